import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Mutant, withoutRule } from '../../scripts/mutants/mutant.ts';
import { mutants } from '../../scripts/mutants/table.ts';
import { root } from '../support/sources.ts';

describe('the table of mutants', () => {
  it.each(Object.entries(mutants))(
    'the text of the rule %s occurs once in its file, and the rule has a test',
    (_, mutant) => {
      const source = readFileSync(join(root, mutant.file), 'utf8');
      expect(withoutRule(source, mutant)).not.toBe(source);
      expect(mutant.title).not.toBe('');
      expect(existsSync(join(root, mutant.test))).toBe(true);
    },
  );

  it.each([
    ['', 0],
    ['if (a) b; if (a) c;', 2],
  ])('withoutRule rejects a mutant whose text is missing or occurs several times: %j', (source, count) => {
    const mutant = { file: 'src/x.ts', text: 'if (a)', without: '' } as Mutant;
    expect(() => withoutRule(source, mutant)).toThrow(`once in src/x.ts, but occurs ${count} times: if (a)`);
  });
});
