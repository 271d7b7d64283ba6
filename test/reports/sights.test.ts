import { expect, it } from 'vitest';
import { FeatureIndex, sightsAt } from '../../src/reports/usage/sights.ts';
import { blocksPerEnvironment, cellsPerBlock } from '../../src/storage/lmdb/blocks.ts';
import { putSeen, putSeries, readSeen, type SeriesName } from '../../src/storage/lmdb/series.ts';
import { fromSnapshot } from '../../src/storage/lmdb/snapshot.ts';
import { finish } from '../support/finish.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';

const environment = 3;

function open() {
  const store = temporaryUsage();
  const index = new FeatureIndex(store);
  return {
    /** Adds a series that was seen in the two minutes after its ordinal, or never if `isSeen` is false. */
    add(ordinal: number, name: SeriesName, isSeen = true) {
      store.lmdb.transactionSync(() => {
        putSeries(store, { environment, ordinal, name });
        if (!isSeen) return;
        const block = environment * blocksPerEnvironment + Math.floor(ordinal / cellsPerBlock);
        const minutes = readSeen(store, block);
        const place = (ordinal % cellsPerBlock) * 2;
        minutes.set([ordinal + 1, ordinal + 2], place);
        putSeen(store, block, minutes);
      });
    },
    clear: () => store.series.clearSync(),
    /** Looks up features in the index, and compares the result with a reading of all series. */
    find(...features: string[]) {
      const found = finish(index.sights({ environments: [environment], features }));
      const all = finish(fromSnapshot(store.lmdb, (at) => sightsAt(store, environment, at)));
      for (const feature of features) expect(found.get(feature)!.get(environment)).toEqual(all.get(feature));
      return features.filter((feature) => found.get(feature)!.size > 0);
    },
  };
}

it('FeatureIndex finds the same features as a reading of all series', () => {
  const { add, find } = open();
  add(0, ['a', 'on']);
  add(1, ['b', '']);
  add(2, ['clicks']);
  add(3, ['a', 'off'], false);
  add(4, ['clicks', 'a', 'on']);
  add(5, ['__other__', 'on']);
  add(6, ['clicks', '__other__', '__other__']);
  add(7, ['c', 'on'], false);
  expect(find('a', 'b', 'c', 'd', 'clicks', '__other__')).toEqual(['a', 'b', 'c']);
});

it('FeatureIndex finds series that were added later, even if they exceed its initial capacity', () => {
  const { add, find } = open();
  add(0, ['a', 'on']);
  expect(find('a', 'f70')).toEqual(['a']);
  for (let ordinal = 1; ordinal <= 200; ordinal += 1) add(ordinal, [`f${ordinal % 90}`, `v${ordinal}`]);
  expect(find('a', 'f0', 'f70', 'f89', 'f90')).toEqual(['a', 'f0', 'f70', 'f89']);
});

it('FeatureIndex reads all series again after the store was replaced', () => {
  const { add, clear, find } = open();
  for (const [ordinal, name] of ['a', 'b', 'c'].entries()) add(ordinal, [name, 'on']);
  expect(find('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
  clear();
  for (const [ordinal, name] of ['d', 'c', 'a', 'e'].entries()) add(ordinal, [name, 'on']);
  expect(find('a', 'b', 'c', 'd', 'e')).toEqual(['a', 'c', 'd', 'e']);
});

it('FeatureIndex distinguishes features whose names have the same hash', () => {
  const { add, find } = open();
  add(0, ['n512789', 'on']);
  expect(find('n512789', 'n749192')).toEqual(['n512789']);
});
