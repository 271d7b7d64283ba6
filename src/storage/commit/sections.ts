import { countUser } from '../aggregate/add-user.ts';
import type { HotTables } from '../aggregate/hot-tables.ts';
import { addValue } from '../aggregate/merge.ts';
import { putMessages } from '../lmdb/messages.ts';
import { putSights } from '../lmdb/senders.ts';
import { putSeries } from '../lmdb/series.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { exposuresSection } from './exposures-section.ts';
import { instancesSection } from './instances-section.ts';
import { ledgerSection } from './ledger-section.ts';
import { eachCount } from './records/counts.ts';
import { eachMeasurement } from './records/measurements.ts';
import { messageChanges } from './records/messages.ts';
import { eachUser } from './records/users.ts';
import type { Section } from './section.ts';

/** The parts of a batch that are folded at a pace of their own. */
export interface Groups<T> {
  /** What every report reads. */
  readonly prompt: T;
  /** Who the users are: many pages with little on each, so that one fold had better take many batches. */
  readonly people: T;
}

/**
 * What a batch consists of, in the order in which it is written: names come before what refers to them, and `prompt` before `people`.
 * @param maxIdentities people an environment whose exposures are kept
 */
export function createSections(
  store: UsageStore,
  hot: HotTables,
  maxIdentities: number,
): Groups<readonly Section[]> {
  return {
    prompt: [
      ...countingSections(store, hot),
      instancesSection(store),
      sendersSection(store),
      ledgerSection(store),
    ],
    people: [usersSection(hot), exposuresSection(store, maxIdentities)],
  };
}

/** Names, messages, and the counts of series. */
export function countingSections(
  store: UsageStore,
  { counts, measurements, seen }: HotTables,
): readonly Section[] {
  return [
    { add: ({ series }) => series.forEach((each) => void putSeries(store, each)) },
    { add: (envelope) => putMessages(store, messageChanges(envelope)) },
    {
      add(envelope) {
        eachCount(envelope, (ref, bucket, checks, used, viewed) =>
          counts.add(ref, bucket, checks, used, viewed),
        );
        eachMeasurement(envelope, (ref, bucket, value, at) =>
          addValue(measurements.touch(ref, bucket), value, at),
        );
        eachUser(envelope, (ref, minute) => seen.mark(ref, minute));
      },
      put() {
        counts.put();
        measurements.put();
        seen.put();
      },
      forget() {
        counts.forget();
        measurements.forget();
        seen.forget();
      },
    },
  ];
}

/** Unique users of series. When these were seen comes with `countingSections`. */
export function usersSection(hot: HotTables): Section {
  const { sketches, counts } = hot;
  return {
    add: (envelope) => eachUser(envelope, (ref, minute, high, low) => countUser(hot, ref, minute, high, low)),
    put() {
      sketches.put();
      counts.put(); // With the note that a day that is over got a user.
    },
    forget() {
      sketches.forget();
      counts.forget();
    },
  };
}

/** Who asks for features. */
export function sendersSection(store: UsageStore): Section {
  return { add: ({ senders }) => putSights(store, senders) };
}
