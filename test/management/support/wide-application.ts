import { maxPoints } from '../../../src/reports/usage/report-range.ts';
import { ask } from './targets.ts';
import type { World } from './world.ts';

/** The maximum number of series of each kind, the route that counts them, and an entry of a report. */
const kinds = {
  usage: { route: '/api/usage/stats', series: 2_000, entry: { feature: '', enabledCount: 1 } },
  measurements: { route: '/api/metrics', series: 1_000, entry: { metric: '', value: 1 } },
} as const;

/** Creates an application whose report by minutes has too many points. @returns the path and query of the report */
export async function wideReport(world: World, kind: keyof typeof kinds): Promise<string> {
  const { route, series, entry } = kinds[kind];
  const { id } = (await ask(world, 'POST', '/api/v2/applications', { name: 'Wide' })) as { id: string };
  const path = `/api/v2/applications/${id}`;
  const { key } = (await ask(world, 'POST', `${path}/keys`, { type: 'Backend' })) as { key: string };
  const named = 'feature' in entry ? 'feature' : 'metric';
  const stats = Array.from({ length: series }, (_, at) => ({ ...entry, [named]: `series-${at}` }));
  const now = Date.now();
  for (let minute = 0; minute <= maxPoints / series; minute += 1) {
    const time = new Date(now - (minute + 1) * 60_000).toISOString();
    const report = { appKey: key, environment: 'Production', time, stats };
    const response = await world.send(undefined, 'POST', route, report, { 'content-type': 'application/json' });
    if (response.status !== 200) throw new Error(`${route} answered ${response.status}: ${await response.text()}`);
    await response.text();
  }
  const from = new Date(now - 24 * 3_600_000).toISOString();
  return `${path}/${kind}?environment=Production&step=minute&from=${from}`;
}
