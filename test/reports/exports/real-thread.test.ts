import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { BodyChunks } from '../../../src/http/types.ts';
import { openReportPool, startReportPool } from '../../../src/reports/report-pool.ts';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { bucketAt, horizonsAt, seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import { openUsageTables } from '../../../src/storage/lmdb/usage.ts';
import { workerFile } from '../../support/service.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const environment = { name: 'Production', number: 7, createdAt: 0 };
const minute = Date.UTC(2026, 0, 31, 5) / 60_000;
const range = { from: minute, to: minute + 60, step: 'minute' } as const;
const series = 500;
const rows = 60 * series;

/** Creates a store with enough rows for several chunks. */
async function filled(): Promise<string> {
  const data = temporaryDirectory();
  const store = openUsageTables(data);
  const hourMs = 3_600_000;
  const horizons = horizonsAt(range.to * 60_000, { minutesMs: hourMs, hoursMs: hourMs, daysMs: hourMs });
  const batch = new Batch();
  for (let ordinal = 0; ordinal < series; ordinal += 1) {
    batch.series.push({ environment: environment.number, ordinal, name: [`flag-${ordinal}`, 'on'] });
    for (let at = range.from; at < range.to; at += 1)
      batch.counts.add(seriesRef(environment.number, ordinal), bucketAt(at, horizons), 1, 0, 0);
  }
  createAggregator(store).write(batch.seal());
  await store.lmdb.close();
  return data;
}

/** Creates a copy of the worker that exits when chunk number `dies` is requested. */
function createWorkerCopy(dies: number): string {
  const real = workerFile('reports/report-worker');
  if (dies === 0) return real;
  const file = join(temporaryDirectory(), 'worker.mjs');
  writeFileSync(
    file,
    `import * as real from ${JSON.stringify(pathToFileURL(real).href)};
let asked = 0;
export const { opened, make, stopExport, close } = real;
export function chunk(request) {
  asked += 1;
  if (asked === ${dies}) { real.close().then(() => process.exit(1)); return new Promise(() => {}); }
  return real.chunk(request);
}
`,
  );
  return file;
}

async function open(dies = 0) {
  const pool = await startReportPool(createWorkerCopy(dies), await filled(), (error) => expect.fail(String(error)));
  onTestFinished(() => pool.close());
  const begin = () => pool.export('team', 'usage', { environment, range, only: undefined }, 'csv');
  return { pool, begin };
}

async function countLines(chunks: BodyChunks): Promise<number> {
  let lines = 0;
  for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next())
    for (const byte of chunk) lines += byte === 10 ? 1 : 0;
  chunks.stop();
  return lines;
}

test('the report thread returns a whole export in chunks', async () => {
  const { begin } = await open();
  expect(await countLines(await begin())).toBe(rows + 1);
});

test('a client that disconnects during an export releases the slot of its team', async () => {
  const { begin } = await open();
  const left = await begin();
  await left.next();
  left.stop();
  expect(await countLines(await begin())).toBe(rows + 1);
});

test('an export is aborted if the report thread exits, and the next export starts another thread', async () => {
  const { begin } = await open(3);
  const broken = await begin();
  await expect(countLines(broken)).rejects.toThrow();
  broken.stop();
  expect((await (await begin()).next())?.length).toBeGreaterThan(0);
});

// The pool must open its files at startup, because later connections can use up all file descriptors.
test('startReportPool waits until the thread has opened the store, and then rejects if the store cannot be opened', async () => {
  const file = join(temporaryDirectory(), 'worker.mjs');
  writeFileSync(file, `throw new Error('Input/output error');`);
  const failures: unknown[] = [];
  const pool = await startReportPool(file, temporaryDirectory(), (error) => void failures.push(error));
  expect(failures.map(String)).toEqual([expect.stringContaining('Input/output error')]);
  const task = { environment, ...range, format: 'json' } as never;
  await expect(pool.make('team', 'usage', task)).rejects.toMatchObject({ code: 'store_unavailable' });
  await pool.close();
});

test('the report thread starts for the first report, and after a failed start again for the next report', async () => {
  const folder = temporaryDirectory();
  const file = join(folder, 'worker.mjs');
  const started = join(folder, 'started');
  const real = pathToFileURL(workerFile('reports/report-worker')).href;
  writeFileSync(
    file,
    `import { existsSync, writeFileSync } from 'node:fs';
const isFirst = !existsSync(${JSON.stringify(started)});
writeFileSync(${JSON.stringify(started)}, '');
if (isFirst) throw new Error('Too many open files');
const real = await import(${JSON.stringify(real)});
export const { opened, make, chunk, stopExport, close } = real;
`,
  );
  const failures: unknown[] = [];
  const pool = openReportPool(file, await filled(), (error) => void failures.push(error));
  onTestFinished(() => pool.close());
  const begin = () => pool.export('team', 'usage', { environment, range, only: undefined }, 'csv');
  expect(existsSync(started)).toBe(false);
  await expect(begin()).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(failures.map(String)).toEqual([expect.stringContaining('Too many open files')]);
  expect(await countLines(await begin())).toBe(rows + 1);
  expect(failures).toHaveLength(1);
});
