import { expect, test } from 'vitest';
import { knownMetrics, metricsIn, readPanels, readRules } from '../support/promtool.ts';

test('every metric is used by an alert or the dashboard, with listed exceptions', () => {
  const base = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '');
  const rest = new Set([...knownMetrics()].map(base));
  for (const { expr } of [...readPanels(), ...readRules()]) for (const name of metricsIn(expr)) rest.delete(base(name));
  expect([...rest].sort()).toEqual(inNeither);
});

/** Metrics that never change, or that are less useful than another metric. */
const inNeither = [
  'flagmeter_applications',
  'flagmeter_backup_last_bytes',
  'flagmeter_backup_last_duration_seconds',
  'flagmeter_build_info',
  'flagmeter_disk_size_bytes',
  'flagmeter_engine_failovers_total',
  'flagmeter_oldest_reader_commits',
  'flagmeter_queue_bytes',
  'flagmeter_rebases_total',
  'flagmeter_set_aside_bytes',
  'flagmeter_surplus_connections_closed_total',
];
