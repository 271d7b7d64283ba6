import { expect, test } from 'vitest';
import { routesFrom } from '../../../src/http/endpoint.ts';
import { createRouter } from '../../../src/http/router.ts';
import { LargeBodies } from '../../../src/ingest/admission/large-bodies.ts';
import { RateLimits } from '../../../src/ingest/admission/rate-limits.ts';
import type { FormatDeps } from '../../../src/ingest/formats/formats.ts';
import { openReportKinds, type ReportDeps } from '../../../src/ingest/formats/reports/kinds.ts';
import { metricsHost } from '../../../src/ingest/host/metrics-host.ts';
import { Ledger } from '../../../src/ingest/ledger/ledger.ts';
import { LedgerTotals } from '../../../src/storage/commit/batch.ts';
import { QueueMonitor } from '../../../src/storage/commit/queue-monitor.ts';
import { openFixture, testHealth } from '../../accounts/fixture.ts';
import { createRequest } from '../../auth/fixture.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const marks = { high: 100, low: 1 };
const telemetry = '/api/frontend/telemetry';
const identities = '/api/frontend/identities';
const json = { 'content-type': 'application/json' };
const web = { 'content-type': 'application/grpc-web' };
const report = { appKey: 'nobody', environment: 'Production', time: '2026-01-31T12:00:00Z', stats: [] };

/** Opens the counting routes with only the dependencies that a refusal needs. Every request must be refused. */
async function openHost() {
  const store = temporaryUsage();
  const { directory, clock } = await openFixture();
  const totals = new LedgerTotals();
  const ledger = new Ledger({ store, clock, findLane: () => ({ ledger: totals }) });
  const health = testHealth();
  const monitor = new QueueMonitor({ packets: marks, bytes: marks, age: marks });
  const services = {
    clock,
    keys: directory,
    ledger,
    health,
    usage: { refusal: () => undefined },
    collect: () => {},
    bodies: new LargeBodies(1e9),
    monitor,
    rates: new RateLimits(0, 0),
    maxBody: 200,
    maxReport: 200,
  };
  const reportKinds = openReportKinds(services as unknown as ReportDeps);
  const snippet = { script: '', declarations: '' };
  const routed = { ...services, snippet, reportKinds, onError: (error: unknown) => expect.unreachable(String(error)) };
  const dispatch = createRouter(routesFrom(metricsHost(services), routed as unknown as FormatDeps));
  return { ledger, totals, health, dispatch };
}

test.each([
  ['that is too large', telemetry, json, ' '.repeat(300), 'body_too_large'],
  ['that is not JSON', telemetry, json, '{', 'invalid_json'],
  ['with an unknown key', telemetry, json, '{"k":"nobody","e":"Production"}', 'unknown_key'],
  ['without a key', telemetry, json, '{"e":"Production"}', 'invalid_body'],
  ['that is too large', '/api/usage/stats', json, ' '.repeat(300), 'body_too_large'],
  ['that is not gzip', '/api/usage/stats', { ...json, 'content-encoding': 'gzip' }, '{}', 'invalid_content_encoding'],
  ['with an unknown key', '/api/usage/stats', json, JSON.stringify(report), 'unknown_key'],
  ['with an unknown key', '/api/metrics', json, JSON.stringify(report), 'unknown_key'],
  ['that is not framed', '/Usage.Usage/SendStats', web, 'xx', 'invalid_protobuf'],
  ['with an unsupported type', '/Usage.Usage/SendStats', json, '', 'unsupported_media_type'],
  ['with an unknown key', identities, { ...json, authorization: 'nobody' }, '{}', 'unknown_backend_key'],
])('the refusal of a request %s on %s is counted without an application', async (_, path, headers, body, code) => {
  const { dispatch, ledger, totals } = await openHost();
  const responses = [1, 2].map(() => dispatch(createRequest(path, { method: 'POST', headers, body })));
  await Promise.all(responses);
  expect([...ledger.unattributed]).toEqual([[code, 2]]);
  expect(ledger.latestUnattributed.latest).toMatchObject([{ code, count: 2 }]);
  expect(totals.size).toBe(0);
});

test.each([telemetry, '/api/usage/stats', '/api/metrics', '/Metrics.Metrics/SendMetrics', identities])(
  'requests that %s refuses before reading them are counted without an application',
  async (path) => {
    const { dispatch, ledger, totals, health } = await openHost();
    health.ready = false;
    const headers = path.startsWith('/api/') ? json : web;
    await dispatch(createRequest(path, { method: 'POST', headers, body: JSON.stringify(report) }));
    expect([...ledger.unattributed]).toEqual([['store_unavailable', 1]]);
    expect(ledger.latestUnattributed.latest).toEqual([]);
    expect(totals.size).toBe(0);
  },
);
