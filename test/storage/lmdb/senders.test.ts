import { expect, test } from 'vitest';
import {
  putSights,
  readSenders,
  type Sender,
  type SenderSight,
  senderLife,
  sweepSenders,
} from '../../../src/storage/lmdb/senders.ts';
import { environmentOrdinal } from '../../../src/storage/lmdb/sketches.ts';
import type { UsageTables } from '../../../src/storage/lmdb/usage.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const browser = (name: string): Sender => ({ name, version: '1', transport: 'http', route: 'telemetry' });
const server = (name: string, route: Sender['route'] = 'usage'): Sender => ({
  name,
  version: null,
  transport: 'grpc',
  route,
});
const sight = (sender: Sender, slot: number, ordinal = 7, environment = 3): SenderSight => ({
  environment,
  ordinal,
  slot,
  sender,
});

function open(): { store: UsageTables; put: (...sights: SenderSight[]) => void } {
  const store = temporaryUsage();
  return { store, put: (...sights) => store.lmdb.transactionSync(() => putSights(store, sights)) };
}

test('the first and last times of a sender are correct even if reports arrive late', () => {
  const { store, put } = open();
  put(sight(browser('a'), 100), sight(server('b'), 100), sight(browser('a'), 100, 8));
  put(sight(browser('a'), 105), sight(browser('a'), 103));
  expect(readSenders(store, 3, 7)).toEqual([
    { ...browser('a'), first: 100, last: 105 },
    { ...server('b'), first: 100, last: 100 },
  ]);
  expect(readSenders(store, 3, 8)).toEqual([{ ...browser('a'), first: 100, last: 100 }]);
  expect(readSenders(store, 4, 7)).toEqual([]);
});

test.each([
  ['a feature', 7, 25],
  ['an environment', environmentOrdinal, 100],
])(
  '%s has equal limits for packet senders and report senders, and __other__ for all further senders',
  (_, ordinal, room) => {
    const { store, put } = open();
    for (let at = 0; at < room + 5; at += 1) put(sight(browser(`browser ${at}`), at, ordinal));
    for (let at = 0; at < room + 5; at += 1) put(sight(server(`server ${at}`), at, ordinal));
    put(sight(server('another', 'metrics'), 200, ordinal), sight(browser('browser 0'), 300, ordinal));
    const names = readSenders(store, 3, ordinal).map(({ name, route, last }) => `${name} ${route} ${last}`);
    expect(names).toHaveLength(2 * room + 3);
    expect(names.slice(-3)).toEqual([
      `server ${room - 1} usage ${room - 1}`,
      `__other__ usage ${room + 4}`,
      '__other__ metrics 200',
    ]);
    expect(names).toContain(`__other__ telemetry ${room + 4}`);
    expect(names).toContain('browser 0 telemetry 300');
  },
);

test('a sweep removes senders that were not seen for ninety days, and continues where it stopped', () => {
  const { store, put } = open();
  for (const ordinal of [1, 2, 3]) put(sight(browser('old'), 100, ordinal), sight(browser('older'), 99, ordinal));
  put(sight(browser('kept'), 100 + senderLife, 2), sight(browser('other'), 1, 1, 4));
  const now = 101 + senderLife;
  const step = (from: number, limit: number) =>
    store.lmdb.transactionSync(() => sweepSenders(store, 3, from, now - 1, limit));
  expect(step(0, 2)).toBe(3);
  expect(readSenders(store, 3, 1).map(({ name }) => name)).toEqual(['old']);
  expect(step(3, 2)).toBeUndefined();
  store.lmdb.transactionSync(() => sweepSenders(store, 3, 0, now, 9));
  expect([1, 2, 3].map((ordinal) => readSenders(store, 3, ordinal).length)).toEqual([0, 1, 0]);
  expect(store.senders.getKeysCount({})).toBe(2);
});
