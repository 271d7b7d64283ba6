import { describe, expect, test } from 'vitest';
import { ApiProblem } from '../../src/console/api/problem.ts';
import { computeLiveness } from '../../src/console/frame/liveness.ts';

const now = 1_000_000;
const polled = (ago: number, error?: unknown) => ({ since: now - ago, error });

describe('figures', () => {
  test.each([
    ['one and a half seconds old', polled(1500), {}, 'live'],
    ['eleven seconds old', polled(11_000), {}, 'behind'],
    ['temporarily refused by the server', polled(1500, new ApiProblem(503, 'x', 'Busy')), {}, 'behind'],
    ['from an unreachable server', polled(1500), { reachable: false }, 'offline'],
    ['from before the end of the session', polled(1500), { ended: true }, 'paused'],
    ['from a fixed range', undefined, {}, undefined],
  ])('computeLiveness returns the state $3 for figures %s', (_, seen, other, kind) => {
    const state = computeLiveness({ polled: seen, reachable: true, ended: false, now, ...other });
    expect(state?.kind).toBe(kind);
    expect(state?.since).toBe(seen?.since);
  });
});
