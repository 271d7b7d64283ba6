import { describe, expect, test } from 'vitest';
import { ApiProblem } from '../../src/console/api/problem.ts';
import { computeLiveness } from '../../src/console/frame/liveness.ts';

const now = 1_000_000;
const polled = (ago: number, error?: unknown) => ({ since: now - ago, error });

describe('figures', () => {
  test.each([
    ['read a moment ago', polled(1500), true, 'live'],
    ['read too long ago', polled(11_000), true, 'behind'],
    ['refused by the server for now', polled(1500, new ApiProblem(503, 'x', 'Busy')), true, 'behind'],
    ['from an unreachable server', polled(1500), false, 'offline'],
    ['from a fixed range', undefined, true, undefined],
  ])('have a state if they are %s', (_, seen, reachable, kind) => {
    const state = computeLiveness({ polled: seen, reachable, now });
    expect(state?.kind).toBe(kind);
    expect(state?.since).toBe(seen?.since);
  });
});
