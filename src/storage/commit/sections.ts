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

/** The groups of a batch that are folded at different rates. */
export interface Groups<T> {
  /** Data that every report reads. */
  readonly prompt: T;
  /** Users and exposures: many pages with few changes each, so one fold should take many batches. */
  readonly people: T;
}

/**
 * The sections of a batch in the order in which they are written: names come before references to them, and `prompt` before
 * `people`.
 * @param maxIdentities maximum number of people per environment whose exposures are kept
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

/** Unique users of series. `countingSections` records when these were first and last seen. */
export function usersSection(hot: HotTables): Section {
  const { sketches, counts } = hot;
  return {
    add: (envelope) => eachUser(envelope, (ref, minute, high, low) => countUser(hot, ref, minute, high, low)),
    put() {
      sketches.put();
      counts.put(); // Records that a past day has a new user.
    },
    forget() {
      sketches.forget();
      counts.forget();
    },
  };
}

/** People: instance ids and exposures. */
export function sendersSection(store: UsageStore): Section {
  return { add: ({ senders }) => putSights(store, senders) };
}
