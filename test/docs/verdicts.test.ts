import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { verdictRules } from '../../src/contract/verdicts.ts';
import { withTable } from '../support/written-table.ts';

const path = fileURLToPath(new URL('../../docs/semantics.md', import.meta.url));

test('docs/semantics.md lists the rules of verdicts', async () => {
  const rows = Object.entries(verdictRules).map(([kind, { when, basis }]) => [`\`${kind}\``, when, basis]);
  const document = withTable(readFileSync(path, 'utf8'), ['Verdict', 'When', 'Basis'], rows);
  await expect(document).toMatchFileSnapshot(path);
});
