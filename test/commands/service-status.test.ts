import { expect, test } from 'vitest';
import { RequestTotals } from '../../src/http/request-totals.ts';
import { Histogram } from '../../src/runtime/histogram.ts';
import type { Core } from '../../src/serve/core.ts';
import { ServiceStatus } from '../../src/serve/service-status.ts';
import { testClock } from '../accounts/fixture.ts';

/** Creates counters that change only when a test changes them. */
function openCounters() {
  const clock = testClock();
  const ledger = { reports: 0, attributed: new Map(), unattributed: new Map() };
  const monitor = { packets: 0, admits: () => true, oldest: () => 0 };
  const intake = { commits: 0, commitTimes: new Histogram(), failedCommits: 0, monitor };
  const health = { ready: true };
  const requests = new RequestTotals();
  const accountStore = { status: () => ({}) };
  const disks = { warnings: [] };
  const usageStore = {
    readiness: () => ({ counting: health.ready ? undefined : 'the store does not accept data; see the log' }),
    status: () => undefined,
  };
  const parts = {
    clock,
    shutdown: { isNear: false },
    counting: { ledger },
    intake,
    health,
    accountStore,
    usageStore,
    disks,
  };
  const core = { ...parts, config: { queueHighPackets: 10 } };
  const status = new ServiceStatus(core as unknown as Core, requests);
  const telemetry = requests.row('POST', '/api/frontend/telemetry');
  const take = (packets: number) => {
    for (let at = 0; at < packets; at += 1) requests.count(telemetry, { status: 202 }, 1);
  };
  const pass = (seconds: number) => {
    for (let at = 0; at < seconds; at += 1) {
      clock.advance(1000);
      status.look();
    }
  };
  return { clock, ledger, intake, monitor, health, requests, telemetry, status, take, pass };
}

test('the service status has no rates at startup', () => {
  const { status } = openCounters();
  expect(status.now()).toMatchObject({
    at: '2026-01-02T03:04:05.000Z',
    packetsPerSecond: 0,
    commits: { total: 0, perSecond: 0, meanMs: null, failed: 0 },
    queue: { waiting: 0, limit: 10, oldestMs: 0 },
    ready: true,
    reason: '',
  });
});

test('the service status computes rates over the last ten seconds', () => {
  const { status, take, pass, intake, ledger, requests, telemetry } = openCounters();
  take(50);
  ledger.reports = 20;
  ledger.attributed.set('rate_limited', 3);
  ledger.unattributed.set('unknown_key', 2);
  requests.count(telemetry, { status: 429 }, 1);
  intake.commitTimes.observe(0.06);
  Object.assign(intake, { commits: 40, failedCommits: 1 });
  pass(5);
  expect(status.now()).toMatchObject({
    packetsPerSecond: 10,
    reportsPerSecond: 4,
    refusedPerSecond: 1,
    commits: { total: 40, perSecond: 8, meanMs: 1.5, failed: 1 },
  });
  pass(5);
  expect(status.now().packetsPerSecond).toBe(5);
  pass(1);
  expect(status.now()).toMatchObject({ packetsPerSecond: 0, commits: { total: 40, meanMs: null } });
  take(30);
  expect(status.now().packetsPerSecond).toBe(3);
});

test('the service status reports why the service accepts nothing', () => {
  const { status, health, monitor } = openCounters();
  Object.assign(monitor, { packets: 12, admits: () => false, oldest: () => 1234.567 });
  expect(status.now()).toMatchObject({
    queue: { waiting: 12, oldestMs: 1234.57 },
    ready: false,
    reason: 'too many messages are waiting for the disk',
  });
  health.ready = false;
  expect(status.now()).toMatchObject({ ready: false, reason: 'the store does not accept data; see the log' });
});

test('the service status contains average rates for at most the last ten minutes', () => {
  const { clock, status, take, pass, ledger } = openCounters();
  expect(status.now().recent).toMatchObject({ width: 5, accepted: [], refused: [] });
  for (let second = 0; second < 10; second += 1) {
    take(4);
    pass(1);
  }
  ledger.attributed.set('rate_limited', 10);
  pass(5);
  expect(status.now().recent).toEqual({
    start: '2026-01-02T03:04:05.000Z',
    width: 5,
    accepted: [4, 4, 0.8, 0],
    refused: [0, 0, 2, 0],
  });
  take(20);
  clock.advance(20_000); // The event loop was blocked, so the rates cover the whole 20 s.
  status.look();
  expect(status.now().recent.accepted.slice(3)).toEqual([0, 1, 1, 1, 1]);
  pass(3600);
  expect(status.now().recent.accepted).toHaveLength(120);
  clock.advance(600_000); // The machine was suspended.
  status.look();
  expect(status.now().recent.accepted).toHaveLength(1);
});
