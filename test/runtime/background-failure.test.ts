import { expect, test } from 'vitest';
import { ApiError } from '../../src/contract/errors.ts';
import { tellFailure } from '../../src/runtime/failures.ts';

const broken = new TypeError('broken');

test.each([
  ['nothing while PostgreSQL is unreachable', new ApiError('engine_unavailable', 'PostgreSQL is unreachable'), []],
  [
    'a refusal without its stack',
    new ApiError('store_unavailable', 'The disk is full'),
    [['it failed', { code: 'store_unavailable', reason: 'The disk is full' }]],
  ],
  ['an unexpected error with its stack', broken, [['it failed', { error: broken }]]],
])('failed background work logs %s', (_, error, told) => {
  const said: unknown[] = [];
  tellFailure({ warn: (...line) => void said.push(line) }, 'it failed', error);
  expect(said).toEqual(told);
});
