import { describe, expect, test } from 'vitest';
import { ApiProblem } from '../../src/console/api/problem.ts';
import { computeLiveness } from '../../src/console/frame/liveness.ts';

const now = 1_000_000;
const polled = (ago: number, error?: unknown) => ({ since: now - ago, error });

describe('figures', () => {
  test.each([
    ['one and a half seconds old', polled(1500), true, 'live'],
    ['eleven seconds old', polled(11_000), true, 'behind'],
    ['temporarily refused by the server', polled(1500, new ApiProblem(503, 'x', 'Busy')), true, 'behind'],
    ['from an unreachable server', polled(1500), false, 'offline'],
    ['from a fixed range', undefined, true, undefined],
  ])('computeLiveness returns the state of figures that are %s', (_, seen, reachable, kind) => {
    const state = computeLiveness({ polled: seen, reachable, now });
    expect(state?.kind).toBe(kind);
    expect(state?.since).toBe(seen?.since);
  });
});
