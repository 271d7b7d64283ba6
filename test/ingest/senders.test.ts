import { expect, test } from 'vitest';
import { addPacket } from '../../src/ingest/formats/telemetry/add-packet.ts';
import { checkPacket } from '../../src/ingest/formats/telemetry/packet.ts';
import { Senders } from '../../src/ingest/senders.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { SeriesDictionary } from '../../src/storage/commit/series-dictionary.ts';
import { transact } from '../../src/storage/lmdb/lmdb.ts';
import { putSights, readSenders, slotMs } from '../../src/storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../src/storage/lmdb/sketches.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';

/**
 * Returns a function that sends a packet and returns the marks in its batch. A mark is an ordinal or `all`, with the
 * sender.
 */
function open() {
  const store = temporaryUsage();
  const dictionary = new SeriesDictionary(store, { features: 3, variants: 2, metrics: 2 });
  const senders = new Senders();
  return {
    senders,
    send(f: object, userAgent: string | undefined, now = 0, environment = 1) {
      const batch = new Batch();
      const asker = senders.ofPacket(batch, environment, userAgent, now);
      const packet = checkPacket({ k: 'k', e: 'e', f });
      addPacket(packet, dictionary.of(environment), batch, now, undefined, asker);
      return batch.senders.map(({ ordinal, slot, sender: { name, version } }) =>
        [ordinal === environmentOrdinal ? 'all' : ordinal, `${name} ${version}`, slot].join(' '),
      );
    },
  };
}

const counted = { on: [1] };

test('a sender and each feature that it requests are recorded once per ten minutes', () => {
  const { send } = open();
  expect(send({ a: counted, b: counted }, 'app/1')).toEqual(['all app 1 0', '0 app 1 0', '1 app 1 0']);
  expect(send({ a: { on: [1], off: [1] }, b: counted }, 'app/1')).toEqual([]);
  expect(send({ a: { off: [1] } }, 'app/1', slotMs - 1)).toEqual([]);
  expect(send({ a: { off: [1] } }, 'app/1', slotMs)).toEqual(['all app 1 1', '0 app 1 1']);
});

test('Senders distinguishes senders, features and environments, but not minor versions of a sender', () => {
  const { send } = open();
  send({ a: counted }, 'app/1.0');
  expect(send({ a: counted }, 'app/1.1')).toEqual([]);
  expect(send({ a: counted }, 'app/2')).toEqual(['all app 2 0', '0 app 2 0']);
  expect(send({ b: counted }, 'app/1.1')).toEqual(['1 app 1 0']);
  expect(send({ a: counted }, 'app/1', 0, 2)).toEqual(['all app 1 0', '0 app 1 0']);
  expect(send({}, undefined)).toEqual(['all unnamed null 0']);
});

test('Senders records a feature over the limit as __other__, and ignores invalid names', () => {
  const { send } = open();
  send({ a: counted, b: counted, c: counted }, 'app/1');
  expect(send({ d: counted, e: counted, '': counted }, 'app/1')).toEqual(['3 app 1 0']);
});

test('at most four hundred unauthenticated senders are recorded separately in ten minutes', () => {
  const { send } = open();
  const told = Array.from({ length: 1000 }, (_, at) => send({}, `app${at}/1`)).flat();
  expect(told).toHaveLength(401);
  expect(told.at(-1)).toBe('all __other__ null 0');
});

test('Senders forgets the senders of a deleted environment', () => {
  const { send, senders } = open();
  send({ a: counted }, 'app/1');
  senders.forget(1);
  expect(send({ a: counted }, 'app/1')).toHaveLength(2);
});

test('a sender is stored once, even if several threads count its packets', () => {
  const store = temporaryUsage();
  const series = new SeriesDictionary(store, { features: 3, variants: 2, metrics: 2 }).of(1);
  const packet = checkPacket({ k: 'k', e: 'e', f: { a: counted } });
  const threads = [new Senders(), new Senders()];
  for (const slot of [0, 1, 0]) {
    for (const senders of threads) {
      const batch = new Batch();
      const now = slot * slotMs;
      addPacket(packet, series, batch, now, undefined, senders.ofPacket(batch, 1, 'app/1', now));
      transact(store.lmdb, () => putSights(store, batch.senders));
    }
  }
  const once = [{ name: 'app', version: '1', transport: 'http', route: 'telemetry', first: 0, last: 1 }];
  expect(readSenders(store, 1, 0)).toEqual(once);
  expect(readSenders(store, 1, environmentOrdinal)).toEqual(once);
});
