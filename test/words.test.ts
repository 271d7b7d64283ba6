import { expect, it } from 'vitest';
import { read } from './support/sources.ts';

/** Finds sentences, titles and names that are hard to read. A failure lists the lines, and a good example. */

const code = /\.(ts|tsx)$/;
const src = read('src', code);
const test = read('test', code).filter(({ path }) => !path.startsWith('test/fixtures/'));
const own = ['test/words.test.ts'];
const all = [...src, ...test, ...read('bench', code), ...read('chaos', code), ...read('scripts', code)].filter(
  ({ path }) => !own.includes(path),
);
const docs = read('docs', /\.md$/);

interface Line {
  readonly place: string;
  readonly text: string;
}

/** Returns the lines of comments, without the opening characters such as `/**`. */
function comments(): Line[] {
  const pattern = /^\s*(?:\/\*\*|\*(?!\/)|\/\/)\s*(.*?)\s*(?:\*\/)?$/;
  return all.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => {
      const [, text] = pattern.exec(line) ?? [];
      return text ? [{ place: `${path}:${at + 1}`, text }] : [];
    }),
  );
}

/** Returns the first sentences of comments. */
function firstLines(): Line[] {
  return all.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => {
      const [, text] = /^\s*\/\*\*\s*(\S.*)$/.exec(line) ?? [];
      const next = /^\s*\/\*\*$/.test(line) ? /^\s*\*\s*(\S.*)$/.exec(lines[at + 1] ?? '')?.[1] : undefined;
      const found = text ?? next;
      return found === undefined ? [] : [{ place: `${path}:${at + 1}`, text: found }];
    }),
  );
}

function titles(): Line[] {
  const pattern = /^\s*(?:(?:it|test|describe)[\w.]*\(|\]\)\(|.*\)\.(?:it|test)\()(['"`])(.*)/;
  return test.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => {
      const [, , text] = pattern.exec(line) ?? [];
      return text === undefined ? [] : [{ place: `${path}:${at + 1}`, text }];
    }),
  );
}

/** Returns the lines of the sources that are not comments. */
function statements(): Line[] {
  return src.flatMap(({ path, lines }) =>
    lines.flatMap((text, at) => (/^\s*(\/\*\*|\*|\/\/)/.test(text) ? [] : [{ place: `${path}:${at + 1}`, text }])),
  );
}

function declarations(): Line[] {
  const pattern =
    /^\s*(?:export )?(?:default )?(?:async )?(?:abstract )?(?:function\*?|class|interface|type|const|let) (\w+)/;
  return src.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => {
      const [, text] = pattern.exec(line) ?? [];
      return text === undefined ? [] : [{ place: `${path}:${at + 1}`, text }];
    }),
  );
}

const prose = () => [
  ...comments(),
  ...docs.flatMap(({ path, lines }) => lines.map((text, at) => ({ place: `${path}:${at + 1}`, text }))),
];

const preposition =
  /^(of|in|on|at(?! (most|least))|by|for|from|to|with|without|after|before|and|or|but|as|if|when|while|until|that|than|whose|which|who|where|into|once|since|so|though|unless|because|between|behind|over|under|through|about|across|despite|during|within|also|nor|even|too|then)\b/;

it.each<[rule: string, lines: () => readonly Line[], pattern: RegExp, example: string]>([
  [
    'a comment begins with its noun or verb',
    firstLines,
    /^(Whether|What|How|Its|Without)\b/,
    '"True if the key has expired", "Interval between backups"',
  ],
  [
    'a demonstrative has its noun',
    prose,
    /\b(those that|that of|one that|ones that|of theirs)\b/,
    '"idle connections", not "those that wait"',
  ],
  [
    'what is absent is named',
    prose,
    /\bif none (has|is|was)\b|\bis no one\b/,
    '"`undefined` if the session has no device"',
  ],
  [
    'time and place have plain words',
    prose,
    /(?<!`)\b(beside|meanwhile|in turn)\b/,
    '"next to", "during", "immediately", "alternately"',
  ],
  [
    'a server responds',
    prose,
    /\b(server|node|service|endpoint|route|listener) (answers|replies|answered|replied)\b/,
    '"the server responds with 503"',
  ],
  ['a title has its own subject', titles, preposition, '"rejects a body that is too large"'],
  ['a message names the field first', statements, /Cannot take .*: must/, '"`teams` must list at least one team"'],
  [
    'a toast is a participle',
    statements,
    /(done="|announce\('|done: ')The [\w ]+ (is|was) \w+/,
    '"Name saved", "Deleted Ada"',
  ],
  [
    'a button has a verb and a noun',
    statements,
    /(>|label: '|label=")(Save|Delete|Add|Edit|Remove|Rename|Revoke) (the|a|an) (?!old)/,
    '"Save name", "Delete environment"',
  ],
  [
    'a function is a verb with its noun',
    declarations,
    /^(?!(any|list|map|one)Of$)[a-z].*[a-z]Of$/,
    '`formatOwners`, `readHead`',
  ],
])('%s', (_, lines, pattern, example) => {
  const wrong = lines()
    .filter(({ text }) => pattern.test(text))
    .map(({ place, text }) => `${place} ${text}`);
  expect(wrong, `Write ${example}`).toEqual([]);
});
