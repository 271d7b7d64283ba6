import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Core } from '../../src/serve/core.ts';
import { type AllTotals, serviceMetrics } from '../../src/serve/metrics.ts';

test('docs/metrics.md has one row for each metric', () => {
  const text = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = Array.from(text.matchAll(/^\| `([a-z_]+)` \| (\w+) \| ([^|]*)\|/gm), ([, name, type, labels = '']) => ({
    name,
    type,
    labels: Array.from(labels.matchAll(/\w+/g), ([label]) => label),
  }));
  // The test uses only the names, types and labels of the metrics.
  const usageStore = { status: () => ({}) };
  const parts = { counting: {}, intake: {}, readers: [], threads: [], clock: { now: () => 0 }, usageStore };
  const core = parts as unknown as Core;
  const metrics = serviceMetrics(core, {} as AllTotals, { certificateExpiry: () => 0, surplusClosed: () => 0 });
  expect(rows).toEqual(metrics.map(({ name, type, labels = [] }) => ({ name, type, labels: [...labels] })));
});
