import { expect, test } from 'vitest';
import { environmentFor } from '../../scripts/test/colour.ts';

const off = { NO_COLOR: '1' };
const on = { FORCE_COLOR: '1' };

test.each([
  ['a terminal', {}, true, on],
  ['a log', {}, undefined, off],
  ['a log in CI', { CI: 'true' }, undefined, { CI: 'true', ...off }],
  ['a terminal with NO_COLOR', off, true, off],
  ['a terminal with FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, off],
  ['a log with FORCE_COLOR', on, undefined, on],
])('all commands of a run in %s use colour, or none of them does', (_, given, isTerminal, expected) => {
  expect(environmentFor(given, isTerminal)).toEqual(expected);
});
