import { expect, test } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import { logFailure } from '../../src/runtime/failures.ts';

const broken = new TypeError('broken');

test.each([
  ['nothing while PostgreSQL is unreachable', new Refusal('postgres_unavailable', 'PostgreSQL is unreachable'), []],
  [
    'a refusal without its stack',
    new Refusal('store_unavailable', 'The disk is full'),
    [['it failed', { code: 'store_unavailable', reason: 'The disk is full' }]],
  ],
  ['an unexpected error with its stack', broken, [['it failed', { error: broken }]]],
])('logFailure logs %s', (_, error, told) => {
  const said: unknown[] = [];
  logFailure({ warn: (...line) => void said.push(line) }, 'it failed', error);
  expect(said).toEqual(told);
});
