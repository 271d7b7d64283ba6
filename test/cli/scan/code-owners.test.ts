import fc from 'fast-check';
import ignore from 'ignore';
import { describe, expect, test } from 'vitest';
import { CodeOwners } from '../../../src/cli/scan/code-owners.ts';

describe('CodeOwners', () => {
  const text = `
# A comment
*            @org/all
*.ts         @org/web ada@shop.example # not @this
/build/      @org/build
docs/*       @org/docs
apps/        @org/apps
/apps/api/   # nobody
/app/[id]/   @org/routes
/a\\ b/      @org/space
**/logs      @org/logs
README.md
not-an-owner here
`;
  test.each([
    ['LICENSE', ['@org/all']],
    ['src/cart.ts', ['@org/web', 'ada@shop.example']],
    ['src/cart.TS', ['@org/all']],
    ['build/out.ts', ['@org/build']],
    ['x/build/out.js', ['@org/all']],
    ['docs/guide.md', ['@org/docs']],
    ['docs/api/guide.md', ['@org/all']],
    ['x/apps/web/a.ts', ['@org/apps']],
    ['apps/api/a.ts', []],
    ['app/[id]/page.tsx', ['@org/routes']],
    ['app/i/page.tsx', ['@org/all']],
    ['a b/c.txt', ['@org/space']],
    ['build/logs/x', ['@org/logs']],
    ['README.md', []],
  ])('CodeOwners returns for %s the owners %j', (path, owners) => {
    expect(new CodeOwners(text).of(path)).toEqual(owners);
  });

  test('CodeOwners combines the owners of all sections, with their default owners and exclusions', () => {
    const owners = new CodeOwners(`
* @org/all
[Docs] @org/docs
*.md
!internal.md
^[Security][2]
secrets/ @org/security
[docs]
/guide.md @org/guide
`);
    expect(owners.of('README.md')).toEqual(['@org/all', '@org/docs']);
    expect(owners.of('internal.md')).toEqual(['@org/all']);
    expect(owners.of('secrets/a.md')).toEqual(['@org/all', '@org/docs', '@org/security']);
    // Sections whose names differ only in case are one section.
    expect(owners.of('guide.md')).toEqual(['@org/all', '@org/guide']);
  });
});

const segment = fc.stringMatching(/^[ab]{1,2}(\.ts)?$/);
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const pattern = fc
  .tuple(
    fc.constantFrom('', '/', '**/'),
    fc.array(fc.oneof(segment, fc.constantFrom('*', '*.ts', 'a*', '**')), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '/'),
  )
  .map(([start, parts, end]) => `${start}${parts.join('/')}${end}`);

test('a CODEOWNERS pattern matches as in .gitignore, except that a final star does not match in subfolders', () => {
  fc.assert(
    fc.property(pattern, path, (each, file) => {
      const matches = new CodeOwners(`${each} @x`).of(file).length > 0;
      const ignored = ignore({ ignorecase: false }).add(each).ignores(file);
      if (!each.endsWith('/*')) expect(matches).toBe(ignored);
      else expect(matches && !ignored).toBe(false);
    }),
  );
});

test('the last matching CODEOWNERS rule decides the owners, regardless of the rules before it', () => {
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 6 }), path, (patterns, file) => {
      const lines = patterns.map((each, at) => `${each} @owner${at}`);
      const last = patterns.findLastIndex((each) => new CodeOwners(`${each} @x`).of(file).length > 0);
      expect(new CodeOwners(lines.join('\n')).of(file)).toEqual(last < 0 ? [] : [`@owner${last}`]);
    }),
  );
});

test('CodeOwners reads any text, and returns at most eight owners of limited length', () => {
  const line = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'[]*!\\/ @#a^\t') }));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), path, (lines, file) => {
      const owners = new CodeOwners(lines.join('\n')).of(file);
      expect(owners.length).toBeLessThanOrEqual(8);
      for (const owner of owners) expect(owner.length).toBeLessThanOrEqual(100);
    }),
  );
});

test('CodeOwners ignores rules beyond the limit', () => {
  const many = `${'/a @x\n'.repeat(10_000)}/a @late\n`;
  expect(new CodeOwners(many).of('a')).toEqual(['@x']);
});
