import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { needing } from '../support/needing.ts';
import { knownMetrics, metricsIn, promtool, readPanels, readRules, rulesPath } from '../support/promtool.ts';

const rules = readRules();
const doc = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

const known = knownMetrics();

test('metricsIn returns only the metrics of an expression', () => {
  const expr = 'sum by (le, x) (rate(a_bucket{le="no"}[5m])) / on (y) b or time() - c_total > 1e9 and d offset 5m';
  expect(metricsIn(expr.replace(' offset 5m', ''))).toEqual(['a_bucket', 'b', 'c_total', 'd']);
});

test.each([
  ...rules.map(({ alert, expr }) => ({ name: alert, expr })),
  ...readPanels().map(({ title, expr }) => ({ name: title, expr })),
])('the expression of $name uses only metrics that exist', ({ expr }) => {
  const names = metricsIn(expr);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !known.has(name))).toEqual([]);
});

test('each alert has a runbook, and each runbook has an alert', () => {
  const headings = [...doc('alerts.md').matchAll(/^## (\w+)$/gm)].map(([, heading]) => heading);
  expect(rules.map(({ alert }) => alert)).toEqual(headings);
  for (const { alert, annotations } of rules) expect(annotations.runbook).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
});

test('each alert is triggered by a test of the executable', () => {
  const provoked = ['binary/prometheus', 'binary/alerts', 'nodes/cluster-alerts', 'nodes/lasting-alerts'].map((name) =>
    readFileSync(new URL(`../${name}.test.ts`, import.meta.url), 'utf8'),
  );
  const isProvoked = (alert: string) => provoked.some((text) => text.includes(`'${alert}'`));
  expect(rules.map(({ alert }) => alert).filter((alert) => !isProvoked(alert))).toEqual([]);
});

/**
 * Series have one sample a minute, in promtool's notation. For example, `0+60x10` grows by 60 a minute, and `0x10`
 * stays 0.
 */
interface Condition {
  readonly series: Readonly<Record<string, string>>;
  /** Minute at which the alert fires. At minute `quiet`, the alert does not fire yet. */
  readonly fires: number;
  readonly quiet: number;
  /** The labels of the alert, except its severity. */
  readonly labels: Readonly<Record<string, string>>;
}

const node = { job: 'flagmeter', instance: 'n1' };
const { instance } = node;
const of = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  `${name}{${Object.entries({ ...node, ...labels }).map(([key, value]) => `${key}="${value}"`)}}`;

/** Returns a histogram with ten observations a minute, all of them in the bucket with the upper bound `bound`. */
function slow(name: string, bound: number, labels: Readonly<Record<string, string>> = {}): Condition['series'] {
  const below = { [of(`${name}_bucket`, { ...labels, le: String(bound / 2) })]: '0x40' };
  const within = [String(bound), '+Inf'].map((le) => [of(`${name}_bucket`, { ...labels, le }), '0+10x40']);
  return { ...below, ...Object.fromEntries(within) };
}

const conditions: Readonly<Record<string, Condition>> = {
  FlagmeterDown: { series: { [of('up')]: '1 0x10' }, quiet: 2, fires: 4, labels: node },
  FlagmeterNotReady: { series: { [of('flagmeter_ready')]: '1 0x10' }, quiet: 1, fires: 3, labels: node },
  FlagmeterNotManaging: { series: { [of('flagmeter_managing')]: '1 0x10' }, quiet: 5, fires: 7, labels: node },
  FlagmeterRefusesForLackOfRoom: {
    series: { [of('flagmeter_ingest_refusals_total', { code: 'backpressure' })]: '0x5 1+1x20' },
    quiet: 8,
    fires: 13,
    labels: { instance },
  },
  FlagmeterCommitsFail: {
    series: { [of('flagmeter_failed_commits_total')]: '0x5 1x10' },
    quiet: 4,
    fires: 7,
    labels: node,
  },
  FlagmeterJournalGrows: {
    series: { [of('flagmeter_journal_bytes', { lane: '1' })]: '0 5e7x10' },
    quiet: 2,
    fires: 5,
    labels: { ...node, lane: '1' },
  },
  FlagmeterCommitsSlow: {
    series: slow('flagmeter_commit_duration_seconds', 1),
    quiet: 8,
    fires: 14,
    labels: { instance },
  },
  FlagmeterChangesSlow: {
    series: slow('flagmeter_account_commit_duration_seconds', 2.5),
    quiet: 8,
    fires: 14,
    labels: { instance },
  },
  FlagmeterRequestsFail: {
    series: { [of('flagmeter_http_requests_total', { status: '500', route: '/x' })]: '0+1x20' },
    quiet: 4,
    fires: 8,
    labels: { instance },
  },
  FlagmeterRequestsSlow: {
    series: slow('flagmeter_http_request_duration_seconds', 2.5, { route: '/connect/token' }),
    quiet: 8,
    fires: 14,
    labels: { instance },
  },
  FlagmeterRefusesMuch: {
    series: {
      [of('flagmeter_ingest_refusals_total', { code: 'unknown_key' })]: '0+10x40',
      [of('flagmeter_packets_committed_total')]: '0+30x40',
    },
    quiet: 10,
    fires: 20,
    labels: { instance },
  },
  FlagmeterSendersRefused: {
    series: { [of('flagmeter_ingest_refusals_total', { code: 'wrong_key_type', attributed: 'true' })]: '0+1x40' },
    quiet: 8,
    fires: 20,
    labels: { instance, code: 'wrong_key_type' },
  },
  FlagmeterKeyLeaked: { series: { [of('flagmeter_leaked_keys')]: '0x5 1x10' }, quiet: 4, fires: 7, labels: node },
  FlagmeterApiKeysExpire: {
    series: { [of('flagmeter_api_keys_expiring')]: '0x5 1x120' },
    quiet: 60,
    fires: 70,
    labels: node,
  },
  FlagmeterThreadLate: {
    series: slow('flagmeter_event_loop_delay_seconds', 1, { thread: 'main' }),
    quiet: 8,
    fires: 14,
    labels: { instance, thread: 'main' },
  },
  FlagmeterDiskAlmostFull: {
    series: { [of('flagmeter_disk_low', { directory: 'data' })]: '0 1x20' },
    quiet: 4,
    fires: 8,
    labels: { ...node, directory: 'data' },
  },
  FlagmeterDiskFillsUp: {
    series: { [of('flagmeter_disk_free_bytes')]: '1e11-1e8x200' },
    quiet: 30,
    fires: 90,
    labels: node,
  },
  FlagmeterOldReader: {
    series: { [of('flagmeter_oldest_reader_seconds', { store: 'usage' })]: '0+60x20' },
    quiet: 5,
    fires: 9,
    labels: { ...node, store: 'usage' },
  },
  FlagmeterRestarts: {
    series: { [of('process_start_time_seconds')]: '1 1 2 2 3 4 4 4 4' },
    quiet: 4,
    fires: 6,
    labels: node,
  },
  FlagmeterAuditExportFails: {
    series: { [of('flagmeter_audit_exports_total', { result: 'failed' })]: '0x5 0+1x30' },
    quiet: 14,
    fires: 18,
    labels: { ...node, result: 'failed' },
  },
  FlagmeterWebhooksFail: {
    series: {
      [of('flagmeter_webhook_attempts_total', { outcome: 'failed' })]: '0+1x120',
      [of('flagmeter_webhook_attempts_total', { outcome: 'delivered' })]: '5x120',
    },
    quiet: 45,
    fires: 55,
    labels: { ...node, outcome: 'failed' },
  },
  FlagmeterWebhooksWait: {
    series: { [of('flagmeter_webhook_deliveries_waiting')]: '0 600x60' },
    quiet: 30,
    fires: 32,
    labels: { job: 'flagmeter' },
  },
  FlagmeterCertificateExpires: {
    // promtool's tests begin at Unix time 0.
    series: { [of('flagmeter_certificate_expiry_timestamp_seconds')]: '1209700x120' },
    quiet: 60,
    fires: 65,
    labels: node,
  },
  FlagmeterBackupFails: { series: { [of('flagmeter_backup_failing')]: '0 1x20' }, quiet: 10, fires: 12, labels: node },
  FlagmeterBackupOld: {
    series: {
      [of('flagmeter_backup_last_success_timestamp_seconds')]: '0x240',
      [of('flagmeter_backup_interval_seconds')]: '1800x240',
    },
    quiet: 115,
    fires: 125,
    labels: node,
  },
  FlagmeterEngineAway: { series: { [of('flagmeter_engine_connected')]: '1 0x10' }, quiet: 1, fires: 3, labels: node },
  FlagmeterNodeSilent: {
    series: { [of('flagmeter_nodes', { state: 'silent' })]: '0 1x10' },
    quiet: 2,
    fires: 4,
    labels: { job: 'flagmeter' },
  },
  FlagmeterSpoolWaits: {
    series: { [of('flagmeter_spool_oldest_seconds')]: '0+60x20' },
    quiet: 5,
    fires: 9,
    labels: node,
  },
  FlagmeterReportsBehind: {
    series: { [of('flagmeter_complete_through_timestamp_seconds')]: '0x20' },
    quiet: 6,
    fires: 9,
    labels: node,
  },
  FlagmeterLogLag: { series: { [of('flagmeter_log_lag_entries')]: '0 2000x20' }, quiet: 9, fires: 12, labels: node },
  FlagmeterRowsRefused: { series: { [of('flagmeter_refused_rows')]: '0 3x20' }, quiet: 5, fires: 8, labels: node },
};

test('the conditions of this test cover every alert', () => {
  expect(Object.keys(conditions)).toEqual(rules.map(({ alert }) => alert));
});

needing('prometheus').describe('the rules in promtool', () => {
  test('promtool accepts the alert rules', () => {
    expect(promtool(['check', 'rules', rulesPath])).toMatch(/SUCCESS/);
  });

  test('each alert fires after its delay, and no alert fires for a healthy node', () => {
    promtool(['test', 'rules', 'tests.yml'], { 'tests.yml': JSON.stringify(unitTests()) });
  });

  test('promtool reports an alert that should fire but does not', () => {
    const wrong = unitTests();
    wrong.tests[0]!.input_series[0]!.values = '1x20';
    expect(() => promtool(['test', 'rules', 'tests.yml'], { 'tests.yml': JSON.stringify(wrong) })).toThrow(
      /FlagmeterDown/,
    );
  });
});

/** Returns unit tests for promtool, as JSON, which is also YAML. */
function unitTests() {
  const fired = Object.entries(conditions).map(([alertname, { series, fires, quiet, labels }]) => ({
    interval: '1m',
    input_series: listSeries(series),
    alert_rule_test: [
      { eval_time: `${quiet}m`, alertname, exp_alerts: [] as unknown[] },
      { eval_time: `${fires}m`, alertname, exp_alerts: [expected(alertname, labels)] },
    ],
  }));
  const healthy = {
    interval: '1m',
    input_series: listSeries(healthyAndBusy),
    alert_rule_test: rules.map(({ alert }) => ({ eval_time: '120m', alertname: alert, exp_alerts: [] as unknown[] })),
  };
  return { rule_files: [rulesPath], evaluation_interval: '30s', tests: [...fired, healthy] };
}

const listSeries = (series: Condition['series']) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }));

/** Series of a healthy node, with some refusals and an occasional busy second. */
const healthyAndBusy: Condition['series'] = {
  [of('up')]: '1x120',
  [of('flagmeter_ready')]: '1x120',
  [of('flagmeter_managing')]: '1x120',
  [of('flagmeter_ingest_refusals_total', { code: 'unknown_key' })]: '0+10x120',
  [of('flagmeter_packets_committed_total')]: '0+1000x120',
  [of('flagmeter_failed_commits_total')]: '0x120',
  [of('flagmeter_leaked_keys')]: '0x120',
  [of('flagmeter_api_keys_expiring')]: '0x120',
  [of('flagmeter_http_requests_total', { status: '202', route: '/x' })]: '0+1000x120',
  ...slow('flagmeter_commit_duration_seconds', 0.005),
  ...slow('flagmeter_http_request_duration_seconds', 0.01, { route: '/api/frontend/telemetry' }),
  [of('flagmeter_disk_free_bytes')]: '1e11-1e5x120',
  [of('flagmeter_disk_low', { directory: 'data' })]: '0x120',
  [of('flagmeter_oldest_reader_seconds', { store: 'usage' })]: '0 2 0x118',
  [of('process_start_time_seconds')]: '1x120',
  [of('flagmeter_backup_failing')]: '0 1x5 0x115',
  [of('flagmeter_backup_last_success_timestamp_seconds')]: '0x30 1800x30 3600x60',
  [of('flagmeter_backup_interval_seconds')]: '1800x120',
  [of('flagmeter_audit_exports_total', { result: 'failed' })]: '2x120',
  [of('flagmeter_audit_exports_total', { result: 'made' })]: '0+1x120',
  // Traffic while one webhook receiver is down.
  [of('flagmeter_webhook_attempts_total', { outcome: 'failed' })]: '0+2x120',
  [of('flagmeter_webhook_attempts_total', { outcome: 'delivered' })]: '0+10x120',
  [of('flagmeter_webhook_deliveries_waiting')]: '0 900 40x118',
  [of('flagmeter_certificate_expiry_timestamp_seconds')]: '2e6x120',
  [of('flagmeter_engine_connected')]: '1x120',
  [of('flagmeter_nodes', { state: 'silent' })]: '0x120',
  [of('flagmeter_spool_oldest_seconds')]: '1x120',
  [of('flagmeter_complete_through_timestamp_seconds')]: '0+60x120',
  [of('flagmeter_refused_rows')]: '0x120',
};

function expected(alertname: string, labels: Condition['labels']) {
  const rule = rules.find(({ alert }) => alert === alertname)!;
  const summary = rule.annotations.summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => labels[name] ?? '');
  return {
    exp_labels: { ...labels, severity: rule.labels.severity },
    exp_annotations: { ...rule.annotations, summary },
  };
}
