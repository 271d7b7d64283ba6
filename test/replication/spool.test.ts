import { expect, test } from 'vitest';
import { decodeDelta } from '../../src/replication/delta.ts';
import { Spool } from '../../src/replication/spool.ts';
import { maxUnresolved } from '../../src/replication/spool-aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { bucketWidth, encodeBucket, seriesRef } from '../../src/storage/lmdb/blocks.ts';
import { newInstanceId } from '../../src/storage/lmdb/instances.ts';
import { messagesSince } from '../../src/storage/lmdb/messages.ts';
import { cumulativeMessage, variantRows } from '../support/cumulative.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { openSpool } from './open-spool.ts';

const minuteMs = 60_000;

test('the deltas of a stream are numbered from 1, and no delta is sealed without counts', async () => {
  const { spool, step, seqs, sealMany } = openSpool();
  expect(step()).toMatchObject({ sealed: 0, done: true });
  sealMany(2);
  expect(step({}, 7)).toMatchObject({ sealed: 2, done: true, watermark: { at: 7 } });
  expect(seqs()).toEqual([1, 2]);
  expect(spool.deltas('one', 2, 10).map(({ seq }) => seq)).toEqual([2]);
  await spool.close();
});

test('the time of the oldest unshipped packet is known even before its counts are sealed', async () => {
  const { spool, step, count } = openSpool();
  step({}, 5);
  expect(spool.level().oldest).toBeUndefined();
  count(1);
  expect(spool.level()).toMatchObject({ oldest: spool.stream('one')!.mark.at });
  const { sealed } = step({}, 9);
  step({ acknowledged: [{ stream: 'one', seq: sealed, at: 9 }] }, 11);
  expect(spool.level().oldest).toBeUndefined();
  await spool.close();
});

test('a delta is kept for an hour after PostgreSQL has confirmed it, and then removed', async () => {
  const { spool, step, seqs, sealMany } = openSpool();
  sealMany(4);
  step({ acknowledged: [{ stream: 'one', seq: 1, at: 1 }] });
  step({ acknowledged: [{ stream: 'one', seq: 3, at: 5 * minuteMs }] });
  expect(spool.level()).toMatchObject({ oldest: 0 });
  step({ removeBefore: 1 });
  expect(seqs()).toEqual([1, 2, 3, 4]);
  step({ removeBefore: 2 });
  expect(seqs()).toEqual([2, 3, 4]);
  step({ removeBefore: 60 * minuteMs });
  expect(seqs()).toEqual([4]);
  expect(spool.stream('one')).toMatchObject({ sealed: 4, acknowledged: 3, first: 4, acknowledgements: [] });
  await spool.close();
});

test('a spool is empty once everything is shipped, even if it keeps many names of series', async () => {
  const { spool, aggregator, step, seqs } = openSpool();
  const batch = new Batch();
  for (let ordinal = 0; ordinal < 8000; ordinal += 1) {
    batch.series.push({ environment: 1, ordinal, name: ['checkout', String(ordinal)] });
    batch.counts.add(seriesRef(1, ordinal), encodeBucket(bucketWidth.minute, 1000), 1, 0, 0);
  }
  aggregator.write(batch.seal());
  while (!step().done);
  expect(spool.bytes).toBeGreaterThan(0);
  const seq = seqs().at(-1)!;
  step({ acknowledged: [{ stream: 'one', seq, at: 1 }] });
  step({ removeBefore: 2 });
  expect(seqs()).toEqual([]);
  expect(spool.store.series.getKeysCount()).toBe(8000);
  expect(spool.bytes).toBe(0);
  await spool.close();
});

test('a spool keeps only the last acknowledgement of each minute', async () => {
  const { spool, step, sealMany } = openSpool();
  sealMany(3);
  for (const seq of [1, 2, 3]) step({ acknowledged: [{ stream: 'one', seq, at: seq * 1000 }] });
  expect(spool.stream('one')?.acknowledgements).toEqual([[3, 3000]]);
  await spool.close();
});

test('the size of a spool excludes deltas that PostgreSQL has', async () => {
  const first = openSpool();
  first.sealMany(3);
  const bytes = (from: number) => first.spool.deltas('one', from, 10).reduce((sum, { body }) => sum + body.length, 0);
  expect(first.spool.bytes).toBe(bytes(1));
  first.step({ acknowledged: [{ stream: 'one', seq: 1, at: 1 }] });
  expect(first.spool.bytes).toBe(bytes(2));
  const rest = bytes(2);
  first.step({ closed: [{ stream: 'one', after: 1 }] });
  expect(first.spool.bytes).toBeGreaterThan(rest);
  const [one, heir] = first.spool.streams();
  first.step({ acknowledged: [{ stream: heir!.stream, seq: heir!.sealed, at: 1 }] });
  expect([first.spool.bytes, first.seqs(heir!.stream)]).toEqual([0, [1, 2, 3]]);
  const { waitingBytes: _, ...ofEarlierVersion } = one!;
  await first.spool.store.streams.put('one', { ...ofEarlierVersion, sealed: 1, acknowledged: 0 });
  await first.spool.close();
  const second = openSpool({ data: first.data, stream: 'two' });
  second.step();
  expect(second.spool.bytes).toBe(second.spool.deltas('one', 1, 1)[0]!.body.length);
  await second.spool.close();
});

test('counts of an earlier process are sealed under its stream, before any counts of the next process', async () => {
  const first = openSpool();
  first.sealMany(1);
  first.count(5);
  await first.spool.close();
  const { spool, count, step, seqs } = openSpool({ data: first.data, stream: 'two' });
  count(1);
  expect(spool.streams().map(({ stream, sealed }) => [stream, sealed])).toEqual([
    ['one', 2],
    ['two', 0],
  ]);
  step();
  expect([seqs('one'), seqs()]).toEqual([[1, 2], [1]]);
  step({ acknowledged: [{ stream: 'one', seq: 2, at: 1 }], finished: ['one'] });
  step({ removeBefore: 2 });
  expect(spool.streams().map(({ stream }) => stream)).toEqual(['two']);
  await spool.close();
});

test('a backlog is sealed in deltas of a limited size, oldest minute first', async () => {
  const { spool, step, aggregator } = openSpool();
  const series = 1500;
  const minutes = 3;
  for (let minute = 0; minute < minutes; minute += 1) {
    const batch = new Batch();
    for (let ordinal = 0; ordinal < series; ordinal += 1) {
      if (minute === 0) batch.series.push({ environment: 1, ordinal, name: ['checkout', `v${ordinal}`] });
      batch.counts.add(seriesRef(1, ordinal), encodeBucket(bucketWidth.minute, 1000 + minute), 1, 0, 0);
    }
    aggregator.write(batch.seal());
  }
  while (!step().done);
  const deltas = spool.deltas('one', 1, 1000).map(({ body }) => decodeDelta(body));
  const rows = deltas.map(({ counts }) => counts.length / 5);
  expect(rows.reduce((sum, each) => sum + each)).toBe(series * minutes);
  expect(Math.max(...rows)).toBeLessThanOrEqual(1000 + 32);
  const buckets = deltas.flatMap(({ counts }) => counts.filter((_, at) => at % 5 === 1));
  expect(buckets).toEqual([...buckets].sort((one, other) => one - other));
  await spool.close();
});

test('a sealed message is recognised after a restart', async () => {
  const first = openSpool();
  const batch = new Batch();
  const from = batch.extent;
  batch.series.push({ environment: 1, ordinal: 0, name: ['checkout', 'on'] });
  batch.counts.add(seriesRef(1, 0), encodeBucket(bucketWidth.minute, 1000), 1, 0, 0);
  batch.messages.add([1, 2, 3, 4], 1000, from, batch.extent);
  first.aggregator.write(batch.seal());
  expect(first.step()).toMatchObject({ sealed: 1 });
  await first.spool.close();
  const { spool } = openSpool({ data: first.data, stream: 'two' });
  expect(messagesSince(spool.store, 0, 10)).toMatchObject([{ at: 1000 }]);
  await spool.close();
});

test('a message without counts is shipped, and a message never includes counts of other packets', async () => {
  const { spool, step, aggregator } = openSpool();
  const batch = new Batch();
  batch.series.push({ environment: 1, ordinal: 0, name: ['checkout', 'on'] });
  for (const [identity, brings] of [
    [1, true],
    [2, false],
    [3, true],
    [4, false],
  ] as const) {
    const from = batch.extent;
    batch.counts.add(seriesRef(1, 0), encodeBucket(bucketWidth.minute, 1000), identity, 0, 0);
    batch.messages.add([1, 1, 1, identity], 1000, brings ? from : batch.extent, batch.extent);
  }
  batch.messages.forget([1, 1, 1, 5], 1000);
  aggregator.write(batch.seal());
  step();
  const [delta] = spool.deltas('one', 1, 10).map(({ body }) => decodeDelta(body));
  const checks = (counts: readonly number[]) => counts.filter((_, at) => at % 5 === 2);
  expect(delta!.messages.map(({ identity, counts }) => [identity[15], checks(counts)])).toEqual([
    [1, [1]],
    [2, []],
    [3, [3]],
    [4, []],
  ]);
  expect(checks(delta!.counts)).toEqual([6]);
  await spool.close();
});

test('the number of unknown instance ids between two deltas is limited', async () => {
  const { spool, step, aggregator } = openSpool();
  const write = (uses: number) => {
    const batch = new Batch();
    const instanceId = newInstanceId(Buffer.alloc(16), (length) => new Uint8Array(length));
    const use = { application: 1, environment: 1, instanceId, seconds: 1, rows: [] };
    for (let each = 0; each < uses; each += 1) batch.unresolved.push(use);
    aggregator.write(batch.seal());
  };
  for (let each = 0; each < 3; each += 1) write(4000);
  while (!step().done);
  write(1);
  step();
  const deltas = spool.deltas('one', 1, 1000).map(({ body }) => decodeDelta(body));
  expect(deltas.flatMap(({ unresolved }) => unresolved)).toHaveLength(maxUnresolved + 1);
  await spool.close();
});

test('the remaining deltas of a closed stream move to another stream, which first names all series', async () => {
  const { spool, step, seqs, sealMany } = openSpool();
  sealMany(4);
  const bodies = spool.deltas('one', 3, 10).map(({ body }) => body);
  step({ acknowledged: [{ stream: 'one', seq: 3, at: 1 }] });
  step({ closed: [{ stream: 'one', after: 2 }] });
  step({ closed: [{ stream: 'one', after: 2 }] });
  const [one, rest, ...others] = spool.streams();
  expect(others).toEqual([]);
  expect(one).toMatchObject({ stream: 'one', sealed: 2, acknowledged: 2 });
  expect(rest).toMatchObject({ restOf: 'one', sealed: 3, acknowledged: 0, first: 1, state: 'open' });
  expect([seqs(), seqs(rest!.stream)]).toEqual([
    [1, 2],
    [1, 2, 3],
  ]);
  const [names, ...moved] = spool.deltas(rest!.stream, 1, 10).map(({ body }) => body);
  expect(decodeDelta(names!)).toMatchObject({ series: [{ name: ['checkout', 'on'] }], counts: [] });
  expect(moved).toEqual(bodies);
  await spool.close();
});

test('closing a stream moves all deltas that the spool keeps, even if earlier deltas are lost', async () => {
  const { spool, step, seqs, sealMany } = openSpool();
  sealMany(4);
  step({ acknowledged: [{ stream: 'one', seq: 3, at: 1 }], removeBefore: 2 });
  expect(seqs()).toEqual([4]);
  step({ closed: [{ stream: 'one', after: 1 }] });
  const [one, rest] = spool.streams();
  expect(one).toMatchObject({ sealed: 1, acknowledged: 1, first: 2 });
  expect(seqs(rest!.stream)).toEqual([1, 2]);
  await spool.close();
});

test('counts after the end of a stream belong to the stream of the process that counts them', async () => {
  const first = openSpool();
  first.sealMany(2);
  await first.spool.close();
  const second = openSpool({ data: first.data, stream: 'two' });
  second.step({ closed: [{ stream: 'one', after: 0 }] });
  second.count(1);
  await second.spool.close();
  const { spool, step, seqs } = openSpool({ data: first.data, stream: 'three' });
  step();
  expect(seqs('two')).toEqual([1]);
  expect(spool.streams().map(({ stream, restOf }) => restOf ?? stream)).toEqual(['one', 'two', 'one', 'three']);
  await spool.close();
});

test('a data directory keeps its id, and the id of its database', async () => {
  const data = temporaryDirectory();
  const spool = new Spool(data, () => 'first');
  expect(spool.postgresId).toBeUndefined();
  spool.bindTo('engine');
  await spool.close();
  const again = new Spool(data, () => 'second');
  expect([again.directory, again.postgresId]).toEqual(['first', 'engine']);
  await again.close();
});

test('totals of one bucket that arrive in the same millisecond are all shipped, in order', async () => {
  const { spool, aggregator, step } = openSpool();
  const batch = new Batch();
  batch.series.push({ environment: 1, ordinal: 0, name: ['checkout', 'on'] });
  for (const checks of [5, 8]) {
    batch.addCumulative(cumulativeMessage(1000, variantRows([[seriesRef(1, 0), checks]])));
  }
  aggregator.write(batch.seal());
  expect(spool.level().oldest).toBeDefined();
  step();
  const { cumulative, series } = decodeDelta(spool.deltas('one', 1, 1)[0]!.body);
  expect(cumulative.map(({ at, rows }) => [at, rows[2]])).toEqual([
    [1000, 5],
    [1001, 8],
  ]);
  expect(series).toHaveLength(1);
  expect(spool.store.cumulative.getKeysCount()).toBe(0);
  await spool.close();
});
