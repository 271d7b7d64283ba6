import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { SentBody } from '../../../src/http/sent-body.ts';
import { startDecodePool } from '../../../src/ingest/formats/decode-pool.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { workerFile } from '../../support/service.ts';

function open(file = workerFile('ingest/formats/decode-worker')) {
  const lines: string[] = [];
  const pool = startDecodePool(
    file,
    createLog('info', (line) => lines.push(line), { now: () => 0 }, 'json'),
  );
  onTestFinished(() => pool.close());
  return { pool, lines };
}

const json = (stats: number) =>
  `{"appKey":"key","environment":"Production","time":"2026-01-31T12:00:00Z","stats":[${Array.from({ length: stats }, (_, n) => `{"feature":"f${n}","enabledCount":1}`)}]}`;
const gzip = [{ kind: 'gzip' }] as const;
const limit = 4_194_304;

test('the pool decompresses and decodes a report in another thread, and passes its length to a callback', async () => {
  const { pool } = open();
  const lengths: number[] = [];
  const text = json(5_000);
  const body = new SentBody(gzipSync(text), gzip, limit);
  const report = await pool.decode(body, 'usageJson', (bytes) => lengths.push(bytes));
  expect(report).toMatchObject({ kind: 'usage', appKey: 'key', statCount: 5_000, work: 10_000 });
  expect(report.entries).toHaveLength(5_000 * 5);
  expect(lengths).toEqual([text.length]);
});

test.each([
  ['that is not JSON', Buffer.from('{"appKey":'), 'invalid_json'],
  ['that is truncated', gzipSync(json(9)).subarray(0, 50), 'invalid_content_encoding'],
  ['that is over the limit', Buffer.from(json(200_000)), 'body_too_large'],
])('the pool refuses a report %s', async (_, bytes, code) => {
  const { pool } = open();
  const body = new SentBody(bytes, bytes[0] === 0x1f ? gzip : [], limit);
  const lengths: number[] = [];
  await expect(pool.decode(body, 'usageJson', (length) => lengths.push(length))).rejects.toMatchObject({ code });
  expect(lengths).toHaveLength(1);
});

test('the pool refuses a report whose thread has stopped, logs the failure, and starts another thread', async () => {
  const { pool, lines } = open(fileURLToPath(new URL('../../support/ending-decoder.mjs', import.meta.url)));
  const decode = (bytes: number) => pool.decode(new SentBody(Buffer.from('{}'), [], bytes), 'usageJson', () => {});
  await expect(decode(0)).rejects.toMatchObject({ code: 'backpressure', retryAfter: 5 });
  expect(lines.join('')).toContain('decoding a large report failed');
  expect(await decode(7)).toMatchObject({ work: 7 });
});

test('the pool finishes decoding the current report before it closes', async () => {
  const { pool } = open();
  const decoding = pool.decode(new SentBody(Buffer.from(json(50_000)), [], limit), 'usageJson', () => {});
  await Promise.all([decoding, pool.close()]);
  expect(await decoding).toMatchObject({ statCount: 50_000 });
});
