import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseCandidate,
  computeSpread,
  findSaving,
  findSustainedRate,
  recommend,
} from '../../src/bench/recommendation.ts';
import type { Combination } from '../../src/bench/sweep.ts';
import { measured } from './measurements.ts';

const base: Combination = { threads: 1, 'commit-delay': 0 };
const two: Combination = { ...base, threads: 2 };
const at = (combination: Combination, packetsPerSecond: number) => measured({ combination, packetsPerSecond });

describe('the candidate', () => {
  it('the candidate combines the fastest value of each dimension', () => {
    const delayed = { ...base, 'commit-delay': 5 };
    const all = [at(base, 50), at(two, 80), at({ ...base, threads: 4 }, 70), at(delayed, 60)];
    expect(chooseCandidate(all, base)).toEqual({ threads: 2, 'commit-delay': 5 });
  });

  it('the candidate equals the base if no value gains 3 %', () => {
    expect(chooseCandidate([at(base, 100), at(two, 102)], base)).toEqual(base);
  });

  it('the candidate has no value whose stage had errors or wrong counts', () => {
    const failed = [measured({ combination: two, packetsPerSecond: 90_000, errors: 1 })];
    const wrong = [measured({ combination: two, packetsPerSecond: 90_000, difference: 'a/on: 1, 2' })];
    for (const other of [failed, wrong]) expect(chooseCandidate([at(base, 50_000), ...other], base)).toEqual(base);
  });

  it('the candidate ignores stages with fewer connections or a fixed rate', () => {
    const fewer = measured({ combination: two, connections: 16, packetsPerSecond: 90_000 });
    const open = measured({ combination: two, share: 0.5, packetsPerSecond: 90_000 });
    expect(chooseCandidate([at(base, 50_000), fewer, open], base)).toEqual(base);
  });
});

describe('the recommendation', () => {
  it('the candidate is recommended if each of its stages is faster than each stage of the base', () => {
    const all = [at(base, 50), at(two, 70), at(base, 52), at(two, 68)];
    const { settings, reason, chosen } = recommend(all, base, two);
    expect(settings).toEqual({ threads: 2 });
    expect(reason).toBe('threads 2 handles 35 % more packets/s than the base.');
    expect(chosen).toEqual({ median: 69, lowest: 68, highest: 70, count: 2 });
  });

  it('the base is recommended if its stages overlap with the stages of the candidate', () => {
    const { settings, reason } = recommend([at(base, 50), at(two, 70), at(base, 60), at(two, 58)], base, two);
    expect(settings).toEqual({});
    expect(reason).toBe('The gain of threads 2 is within the noise.');
  });

  it('the base is recommended if the candidate was measured only once', () => {
    expect(recommend([at(base, 50), at(two, 70)], base, two).settings).toEqual({});
  });

  it('the recommendation ignores stages that other processes disturbed', () => {
    const slow = [30, 31].map((rate) => measured({ packetsPerSecond: rate, isDisturbed: true }));
    const all = [at(base, 70), ...slow, at(two, 60), at(two, 61)];
    expect(chooseCandidate(all, base)).toEqual(base);
    expect(computeSpread(all, base)).toEqual({ median: 70, lowest: 70, highest: 70, count: 1 });
    expect(recommend(all, base, two).settings).toEqual({});
    expect(recommend(slow, base, two).reason).toMatch(/^Each stage of the base failed/);
  });

  it('the recommendation requires a gain of 3 %, and a gain above the spread of the base', () => {
    const rates = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(rates, rates, (usual, other) => {
        const all = [...usual.map((rate) => at(base, rate)), ...other.map((rate) => at(two, rate))];
        const { settings } = recommend(all, base, two);
        if (Object.keys(settings).length === 0) return;
        expect(Math.min(...other)).toBeGreaterThan(Math.max(...usual));
        expect(computeSpread(all, two).median).toBeGreaterThanOrEqual(computeSpread(all, base).median * 1.03);
      }),
    );
  });
});

describe('the commit delay that saves writes', () => {
  const open = (delay: number, share: number, bytesPerPacket: number) =>
    measured({ combination: { ...base, 'commit-delay': delay }, share, bytesPerPacket, p50: 1 + delay });

  it('the commit delay with the largest saving at each load is recommended', () => {
    const all = [
      ...[open(0, 0.5, 1_000), open(0, 0.8, 500)],
      ...[open(2, 0.5, 700), open(2, 0.8, 350)],
      ...[open(5, 0.5, 400), open(5, 0.8, 450)],
    ];
    expect(findSaving([measured(), ...all], base)).toEqual({
      settings: { 'commit-delay': 2 },
      reason:
        'commit-delay 2 writes at least 30 % fewer bytes per packet. At 50 % load its median latency is 3.0 ms, not 1.0 ms.',
    });
  });

  it('no commit delay is recommended if it saves little at one load, or if the written bytes are unknown', () => {
    expect(
      findSaving([measured(), open(0, 0.5, 1_000), open(0, 0.8, 500), open(5, 0.5, 400), open(5, 0.8, 490)], base),
    ).toBeUndefined();
    expect(findSaving([measured()], base)).toBeUndefined();
  });
});

describe('the sustained rate', () => {
  const open = (offered: number, more: object = {}) =>
    measured({ share: 0.8, offered, packetsPerSecond: offered, bytesPerPacket: 500, ...more });

  it('the sustained rate is the highest rate with all responses in time, and states the bytes written per day', () => {
    const all = [
      measured(),
      open(10_000),
      open(20_000),
      open(30_000, { packetsPerSecond: 25_000 }),
      open(40_000, { p99: 80, othersP99: 79 }),
    ];
    expect(findSustainedRate(all, base)).toEqual({
      packetsPerSecond: 20_000,
      share: 0.8,
      p99: 3.8,
      generatorP99: 0.2,
      bytesPerDay: 864e9,
    });
  });

  it('delays of the generator do not lower the sustained rate', () => {
    const late = open(30_000, { p99: 80, generatorP99: 70, othersP99: 30 });
    expect(findSustainedRate([measured(), open(20_000), late], base)).toMatchObject({
      packetsPerSecond: 30_000,
      p99: 30,
      generatorP99: 70,
    });
  });

  it('the sustained rate is unknown if each rate had errors', () => {
    expect(findSustainedRate([measured(), open(10_000, { errors: 3 })], base)).toBeUndefined();
  });
});
