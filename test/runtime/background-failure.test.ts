import { expect, test } from 'vitest';
import { ApiError } from '../../src/contract/errors.ts';
import { tellFailure } from '../../src/runtime/background-failure.ts';

const broken = new TypeError('broken');

test.each([
  ['nothing while the engine is away', new ApiError('engine_unavailable', 'The engine does not answer'), []],
  [
    'a refusal without where it was thrown',
    new ApiError('store_unavailable', 'The disk is full'),
    [['it failed', { code: 'store_unavailable', reason: 'The disk is full' }]],
  ],
  ['what is not expected with all that is known', broken, [['it failed', { error: broken }]]],
])('background work tells %s', (_, error, told) => {
  const said: unknown[] = [];
  tellFailure({ warn: (...line) => void said.push(line) }, 'it failed', error);
  expect(said).toEqual(told);
});
