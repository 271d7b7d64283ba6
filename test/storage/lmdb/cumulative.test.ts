import { describe, expect, test } from 'vitest';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { decodeEnvelope, encodeEnvelope } from '../../../src/storage/commit/envelope.ts';
import { digestBytes } from '../../../src/storage/commit/records.ts';
import { seriesRef } from '../../../src/storage/lmdb/blocks.ts';
import {
  type CumulativeMessage,
  CumulativeTotals,
  cumulativeLifeMs,
  opensFeature,
  repeats,
} from '../../../src/storage/lmdb/cumulative.ts';
import { cumulativeMessage, interval } from '../../support/cumulative.ts';
import { environment, openStore, start, type Totals } from '../../support/cumulative-store.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

type SentMessage = readonly [totals: Totals, at: number, more?: Partial<CumulativeMessage>];

const forGo = { repeats: repeats.withoutVariants };
const unknownInterval = { interval: 0 };

describe('a message of an SDK that repeats buckets', () => {
  test.each<[string, readonly SentMessage[], Totals, unknown[]]>([
    [
      'of the SDK for Go counts once if it is received again',
      [
        [{ 'a/yes': 5, 'a/no': 1, sales: 2, queue: 7 }, 0, forGo],
        [{ 'a/yes': 5, 'a/no': 1, sales: 2, queue: 7 }, 0, forGo],
      ],
      { 'a/yes': 5, 'a/no': 1, sales: 2, queue: 7 },
      [['repeated', 1]],
    ],
    [
      'of the SDK for Node counts in full if another process sends an equal message in the same millisecond',
      [
        [{ 'a/yes': 5, 'a/no': 1, sales: 2, queue: 7 }, 0],
        [{ 'a/yes': 5, 'a/no': 1, sales: 2, queue: 7 }, 0],
      ],
      { 'a/yes': 10, 'a/no': 2, sales: 4, queue: 14 },
      [['possible_repeat', 1]],
    ],
    [
      'counts only the difference to the message of the previous interval',
      [
        [{ 'a/yes': 5, 'a/blue': 5, 'b/no': 1, sales: 2.5 }, 0],
        [{ 'a/yes': 8, 'a/blue': 6, 'b/no': 1, 'c/yes': 4, sales: 4 }, interval],
      ],
      { 'a/blue': 6, 'a/yes': 2, 'b/no': 1, 'c/yes': 4, sales: 4 },
      [['repeated', 1]],
    ],
    [
      'counts a gauge again in a later message',
      [
        [{ 'a/yes': 1, queue: 7 }, 0],
        [{ 'a/yes': 1, queue: 5 }, interval],
      ],
      { 'a/yes': 1, queue: 12 },
      [['repeated', 1]],
    ],
    [
      'counts the checks of a variant that was served while the flag was disabled',
      [
        [{ 'a/yes': 1 }, 0],
        [{ 'a/yes': 1, 'a/no': 1, 'a/fallback': 1 }, interval],
      ],
      { 'a/yes': 1, 'a/fallback': 1 },
      [['repeated', 1]],
    ],
    [
      'counts in full if another process with the same start ends its bucket at about the same time',
      [
        [{ 'a/yes': 5 }, 0],
        [{ 'a/yes': 5 }, 3],
        [{ 'a/yes': 6 }, interval / 2],
      ],
      { 'a/yes': 16 },
      [['possible_repeat', 2]],
    ],
    [
      'counts in full if it has fewer checks of a flag',
      [
        [{ 'a/yes': 5, 'b/no': 2 }, 0],
        [{ 'a/yes': 9, 'b/no': 1 }, interval],
      ],
      { 'a/yes': 14, 'b/no': 3 },
      [['possible_repeat', 1]],
    ],
    [
      'counts in full if it has other counts than a message with the same end',
      [
        [{ 'a/yes': 5 }, 0],
        [{ 'a/yes': 6 }, 0],
      ],
      { 'a/yes': 11 },
      [['possible_repeat', 1]],
    ],
    [
      'counts in full if it has another identity than the previous message',
      [
        [{ 'a/yes': 5 }, 0],
        [{ 'a/yes': 8 }, interval, { identity: digestBytes(1, 2, 3, 5) }],
      ],
      { 'a/yes': 13 },
      [],
    ],
    [
      'counts nothing if a later message that includes its counts arrived first',
      [
        [{ 'a/yes': 8, 'b/no': 1 }, interval],
        [{ 'a/yes': 5 }, 0],
      ],
      { 'a/yes': 8, 'b/no': 1 },
      [['repeated', 1]],
    ],
    [
      'has the length of the first bucket as its interval if it names no interval',
      [
        [{ 'a/yes': 5 }, 0, unknownInterval],
        [{ 'a/yes': 6 }, 1000, { ...unknownInterval, length: interval + 1000 }],
        [{ 'a/yes': 8 }, interval + 1000, { ...unknownInterval, length: 2 * interval + 1000 }],
      ],
      { 'a/yes': 5 + 6 + 2 },
      [
        ['possible_repeat', 1],
        ['repeated', 1],
      ],
    ],
    [
      'counts in full if its interval is unknown',
      [
        [{ 'a/yes': 5 }, 0, { interval: 0, length: 0 }],
        [{ 'a/yes': 6 }, interval, { interval: 0, length: 0 }],
      ],
      { 'a/yes': 11 },
      [['possible_repeat', 1]],
    ],
    [
      'of the SDK for Go counts all its variants, because this SDK repeats only yes and no',
      [
        [{ 'a/yes': 5, 'a/blue': 5, 'b/no': 2 }, 0, forGo],
        [{ 'a/yes': 11, 'a/blue': 6, 'b/no': 3 }, interval, forGo],
        [{ 'a/yes': 13, 'a/red': 1, 'b/no': 3 }, 2 * interval, forGo],
      ],
      { 'a/blue': 11, 'a/red': 1, 'a/yes': 1, 'b/no': 3 },
      [['repeated', 2]],
    ],
    [
      'of the SDK for Go counts in full if it has more variants than added checks',
      [
        [{ 'a/yes': 5, 'a/blue': 5 }, 0, forGo],
        [{ 'a/yes': 6, 'a/blue': 6 }, interval, forGo],
      ],
      { 'a/blue': 11 },
      [['possible_repeat', 1]],
    ],
    [
      'leads to a note if its values resemble the previous values of an SDK that repeats values',
      [
        [{ sales: 4 }, 0, { repeats: repeats.values }],
        [{ sales: 3 }, interval, { repeats: repeats.values }],
        [{ sales: 7 }, 2 * interval, { repeats: repeats.values }],
      ],
      { sales: 14 },
      [['possible_repeat', 1]],
    ],
    [
      'counts in full if its SDK never repeats a bucket',
      [
        [{ 'a/yes': 5 }, 0, { repeats: repeats.never }],
        [{ 'a/yes': 5 }, 0, { repeats: repeats.never }],
      ],
      { 'a/yes': 10 },
      [],
    ],
  ])('a message %s', async (_, sent, expected, notes) => {
    const store = openStore();
    for (const [totals, at, more] of sent) {
      store.send(totals, start + at, more);
      await store.restart();
    }
    expect(store.sums()).toEqual(expected);
    expect(store.notes().sort()).toEqual(notes);
  });
});

describe('a registration', () => {
  const sender = digestBytes(1, 2 ** 32 - 1, 5, 6);
  const unnamed = { sender, repeats: repeats.never, ...unknownInterval };
  const registration = (more: Partial<CumulativeMessage>) => ({ identity: sender, sender, length: 0, ...more });

  test('a registration names the SDK and the interval for messages that do not name them', async () => {
    const store = openStore();
    store.send({}, start, registration({ repeats: repeats.whole, interval: interval / 4 }));
    await store.restart();
    store.send({ 'a/yes': 5 }, start, unnamed);
    store.send({ 'a/yes': 7 }, start + interval / 4, unnamed);
    expect(store.sums()).toEqual({ 'a/yes': 7 });
  });

  test('similar messages count in full if the registered SDK never repeats a bucket', () => {
    const store = openStore();
    store.send({}, start, registration({ repeats: repeats.never }));
    for (const _ of [1, 2]) store.send({ 'a/yes': 5 }, start, { ...unnamed, repeats: repeats.whole });
    expect(store.sums()).toEqual({ 'a/yes': 10 });
  });

  test('a registration is remembered until its sender stops sending', () => {
    const store = openStore();
    store.send({}, start, registration({ repeats: repeats.withoutVariants, interval }));
    const step = cumulativeLifeMs * 0.7;
    for (let at = start; at < start + 4 * step; at += step)
      store.send({ 'a/yes': 1 }, at, { ...unnamed, identity: digestBytes(1, at / 1000, 0, 0) });
    const last = { ...unnamed, identity: digestBytes(1, 1, 0, 0) };
    for (const _ of [1, 2]) store.send({ 'b/yes': 1 }, start + 4 * step, last);
    expect(store.sums()['b/yes']).toBe(1);
  });
});

test('a message adds the amounts of two names that share a series', () => {
  const store = openStore();
  const [ref] = store.flattenTotals({ 'a/yes': 0 });
  const twice = (one: number, other: number) => [ref!, opensFeature, one, ref!, opensFeature, other];
  store.send({}, start, { rows: twice(2, 3) });
  store.send({}, start + interval, { rows: twice(3, 4) });
  expect(store.sums()).toEqual({ 'a/yes': 7 });
});

test('messages are forgotten after their lifetime, which each later message extends', () => {
  const store = openStore();
  const other = { identity: digestBytes(1, 9, 9, 9) };
  store.send({ 'a/yes': 5 }, start);
  store.send({ 'a/yes': 6 }, start + cumulativeLifeMs);
  store.send({ 'a/no': 1 }, start + cumulativeLifeMs + 1, other);
  expect(store.rows()).toBe(2 * 2 + 1);
  store.send({ 'a/no': 2 }, start + 2 * cumulativeLifeMs + 1, other);
  expect(store.rows()).toBe(2 + 1);
});

test('a message over the limit of an application replaces the oldest message of this application', async () => {
  const store = temporaryUsage();
  const totals = new CumulativeTotals(store.cumulative, 10);
  const of = (application: number, begun: number) =>
    cumulativeMessage(start + begun, [seriesRef(environment, 1), opensFeature, 1], {
      identity: digestBytes(application, begun, 0, 0),
    });
  const notes = (message: CumulativeMessage) => totals.add(message).note;
  await store.lmdb.transaction(() => {
    totals.add(of(2, 0));
    for (let begun = 0; begun < 200; begun += 1) totals.add(of(1, begun));
    expect(store.cumulative.getKeysCount()).toBe(2 * 10 + 1 + 2 + 1);
    expect([notes(of(2, 0)), notes(of(1, 199)), notes(of(1, 190)), notes(of(1, 189))]).toEqual([
      ...['possible_repeat', 'possible_repeat', 'possible_repeat'],
      undefined,
    ]);
    while (totals.forget(start + cumulativeLifeMs, 3) > 0);
    expect(store.cumulative.getKeysCount()).toBe(0);
  });
});

test('an envelope without cumulative messages has the version that earlier releases read', () => {
  const readVersion = (batch: Batch) => {
    const body = Buffer.concat(encodeEnvelope(batch.seal()));
    return [body.readUInt32LE(0), decodeEnvelope(body).cumulative];
  };
  const plain = new Batch();
  plain.counts.add(seriesRef(environment, 1), 1, 1, 0, 0);
  expect(readVersion(plain)).toEqual([1, []]);
  const message = cumulativeMessage(start, [seriesRef(environment, 1), opensFeature, 1]);
  const cumulative = new Batch();
  cumulative.addCumulative(message);
  const [version, [read]] = readVersion(cumulative) as [number, [CumulativeMessage]];
  expect([version, { ...read, identity: Buffer.from(read.identity), sender: [...read.sender] }]).toEqual([
    3,
    { ...message, sender: [] },
  ]);
});
