import { expect, test } from 'vitest';
import { DelayTrial } from '../../../src/storage/commit/delay-trial.ts';

const delayMs = 2;
const commitMs = 0.3;

/** Runs commits for some ms. @param next packets of a commit, and its duration @returns packets and commits by phase */
function run(trial: DelayTrial, ms: number, next: (isDelayed: boolean) => { packets: number; ms: number }, from = 0) {
  const sums = { packets: 0, commits: 0, delayed: 0 };
  for (let now = from; now < from + ms; ) {
    const { isDelayed } = trial;
    const commit = next(isDelayed);
    now += commit.ms;
    trial.committed(commit.packets, now);
    sums.packets += commit.packets;
    sums.commits += 1;
    if (isDelayed) sums.delayed += 1;
  }
  return sums;
}

/** Senders that wait for the response before they send the next packet. */
const waiting = (senders: number) => (isDelayed: boolean) => ({
  packets: senders,
  ms: commitMs + (isDelayed ? delayMs : 0),
});

/** Senders that do not wait for responses. Their packets arrive at a constant rate per millisecond. */
function independent(rate: number) {
  let arrived = 0;
  return (isDelayed: boolean) => {
    const ms = Math.max(commitMs + (isDelayed ? delayMs : 0), 1 / rate);
    arrived += ms * rate;
    const packets = Math.floor(arrived + 1e-9);
    arrived -= packets;
    return { packets, ms };
  };
}

test.each([1, 2, 8, 32])('delays slow waiting senders down by at most 2 %% (number of senders: %d)', (senders) => {
  const trial = new DelayTrial();
  run(trial, 20_000, waiting(senders));
  const { packets } = run(trial, 20_000, waiting(senders));
  expect(packets).toBeGreaterThan((0.98 * senders * 20_000) / commitMs);
});

test.each([1, 5, 20])('most commits are delayed if the rate of independent packets is %d per millisecond', (rate) => {
  const { packets, commits } = run(new DelayTrial(), 20_000, independent(rate));
  expect(packets / commits).toBeGreaterThan(2 * Math.max(1, rate * commitMs));
});

test('commits are not delayed if no other packets join them', () => {
  const { commits, delayed } = run(new DelayTrial(), 200_000, independent(0.1));
  expect(delayed).toBeLessThan(commits / 10);
});

test('delays stop when the senders begin to wait for their responses', () => {
  const trial = new DelayTrial();
  run(trial, 10_000, independent(1));
  run(trial, 5_000, waiting(8));
  const { packets } = run(trial, 20_000, waiting(8));
  expect(packets).toBeGreaterThan((0.95 * 8 * 20_000) / commitMs);
});

test('delays resume within seconds after the disk was blocked', () => {
  const trial = new DelayTrial();
  const next = independent(1);
  run(trial, 5_000, next);
  run(trial, 2_000, (isDelayed) => ({ packets: next(isDelayed).packets, ms: 300 }));
  const { packets, commits } = run(trial, 10_000, next);
  expect(packets / commits).toBeGreaterThan(1.8);
});

test('a pause of all senders does not reduce the measured rate of packets', () => {
  const trial = new DelayTrial();
  let last = 0;
  for (let burst = 0; burst < 20; burst += 1) last = run(trial, 500, waiting(8), burst * 3_000).packets;
  expect(last).toBeGreaterThan((0.9 * 8 * 500) / commitMs);
});
