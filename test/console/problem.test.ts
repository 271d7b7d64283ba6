import { describe, expect, test } from 'vitest';
import { ApiProblem, pauseAfter, Unreachable } from '../../src/console/api/problem.ts';

const busy = (retryAfter?: number) => new ApiProblem(503, 'backpressure', 'Try again', retryAfter);
const once = Number.POSITIVE_INFINITY;

describe('the pause before a path is read again', () => {
  test.each([
    ['after a success', 2000, 0, undefined, 2000],
    ['after a success of a path that is read once', once, 0, undefined, undefined],
    ['after the first failure', 2000, 1, new Unreachable('offline'), 4000],
    ['after the third failure', 2000, 3, new Unreachable('offline'), 16_000],
    ['after many failures', 2000, 20, new Unreachable('offline'), 30_000],
    ['after a failure of a path that is read once', once, 1, new Unreachable('offline'), 4000],
    ['after a failure of a path that is read seldom', 60_000, 1, new Unreachable('offline'), 4000],
    ['after a failure with a longer pause from the server', 2000, 1, busy(20), 20_000],
    ['after a failure with a shorter pause from the server', 2000, 3, busy(1), 16_000],
    ['after a temporary refusal', 2000, 1, busy(), 4000],
    ['after a missing resource', 2000, 1, new ApiProblem(404, 'not_found', 'Not there'), undefined],
    ['after an invalid request', 2000, 1, new ApiProblem(400, 'invalid_query', 'Wrong'), undefined],
  ])('the pause in ms %s is $4', (_, everyMs, failures, error, pause) => {
    expect(pauseAfter(everyMs, failures, error)).toBe(pause);
  });
});
