import { expect, test } from 'vitest';
import { maxPoints } from '../../src/reports/usage/report-range.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { createApplication, freshDirectory, token } from '../support/binary.ts';
import { startLocal } from '../support/service.ts';

const minutes = 600;
const day = Math.floor(Date.now() / 86_400_000) * 1440;
const series = Math.floor(maxPoints / minutes) + 1;

/** Counts a check and measures a value for each series in each minute of ten hours. */
function fill(data: string, environment: number): Promise<void> {
  const store = openUsageTables(data);
  const { write } = createAggregator(store);
  const batch = new Batch();
  for (let ordinal = 0; ordinal < 2 * series; ordinal += 2) {
    batch.series.push({ environment, ordinal, name: [`feature-${ordinal % 100}`, `variant-${ordinal}`] });
    batch.series.push({ environment, ordinal: ordinal + 1, name: [`metric-${ordinal}`] });
    for (let minute = day; minute < day + minutes; minute += 1) {
      const bucket = encodeBucket(bucketWidth.minute, minute);
      batch.counts.add(seriesRef(environment, ordinal), bucket, 1, 0, 0);
      batch.measurements.add(seriesRef(environment, ordinal + 1), bucket, 1, minute * 60_000);
    }
  }
  write(batch.seal());
  return store.lmdb.close();
}

test('a report with too many points is refused early, and the refusal suggests what to change', async () => {
  const data = `${freshDirectory()}/data`;
  const accounts = openAccountTables(data);
  const { http, credentials, stop } = await startLocal({ data, accounts });
  const access = await token(http, credentials);
  const application = await createApplication(http, access, { name: 'shop' });
  await fill(data, accounts.applications.get(application)!.environments[0]!.number);
  const time = (minute: number) => new Date(minute * 60_000).toISOString();
  const ask = async (report: string, query: Record<string, string>) => {
    const range = { environment: 'Production', from: time(day), to: time(day + 1440) };
    const response = await fetch(
      `http://${http}/api/v2/applications/${application}/${report}?${new URLSearchParams({ ...range, ...query })}`,
      { headers: { authorization: `Bearer ${access}` } },
    );
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  for (const [report, narrow] of [
    ['usage', { feature: 'feature-0' }],
    ['measurements', { metric: 'metric-0' }],
  ] as const) {
    expect(await ask(report, { step: 'minute' })).toMatchObject({
      status: 400,
      json: { code: 'too_many_points', detail: expect.stringContaining('use a wider step or a shorter range') },
    });
    for (const query of [{ step: 'hour' }, { step: 'minute', ...narrow }, { step: 'minute', to: time(day + 300) }])
      expect((await ask(report, query)).status).toBe(200);
  }
  await stop();
});
