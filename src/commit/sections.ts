import { addUser } from '../aggregate/add-user.ts';
import type { HotTables } from '../aggregate/hot-tables.ts';
import { addValue } from '../aggregate/merge.ts';
import { putMessages } from '../store/messages.ts';
import { putSights } from '../store/senders.ts';
import { putSeries } from '../store/series.ts';
import type { UsageStore } from '../store/usage.ts';
import { exposuresSection } from './exposures-section.ts';
import { instancesSection } from './instances-section.ts';
import { ledgerSection } from './ledger-section.ts';
import { eachCount } from './records/counts.ts';
import { eachMeasurement } from './records/measurements.ts';
import { messageChanges } from './records/messages.ts';
import { eachUser } from './records/users.ts';
import type { Section } from './section.ts';

/**
 * What a batch consists of, in the order in which it is written: names come before what refers to them.
 * @param maxIdentities people an environment whose exposures are kept
 */
export function createSections(store: UsageStore, hot: HotTables, maxIdentities: number): readonly Section[] {
  return [
    ...countingSections(store, hot),
    instancesSection(store),
    exposuresSection(store, maxIdentities),
    sendersSection(store),
    ledgerSection(store),
  ];
}

/** Names, messages, and what is counted of series, in the order in which it is written. */
export function countingSections(store: UsageStore, hot: HotTables): readonly Section[] {
  const { counts, measurements, sketches, seen } = hot;
  return [
    { add: ({ series }) => series.forEach((each) => void putSeries(store, each)) },
    { add: (envelope) => putMessages(store, messageChanges(envelope)) },
    {
      add: (envelope) =>
        eachCount(envelope, (ref, bucket, checks, used, viewed) =>
          counts.add(ref, bucket, checks, used, viewed),
        ),
      forget: () => counts.forget(),
    },
    {
      add: (envelope) =>
        eachMeasurement(envelope, (ref, bucket, value, at) =>
          addValue(measurements.touch(ref, bucket), value, at),
        ),
      put: () => measurements.put(),
      forget: () => measurements.forget(),
    },
    {
      add: (envelope) => eachUser(envelope, (ref, minute, high, low) => addUser(hot, ref, minute, high, low)),
      put() {
        sketches.put();
        counts.put(); // With the note that a day that is over got a user.
        seen.put(); // When the counts, measurements and users were seen.
      },
      forget() {
        sketches.forget();
        seen.forget();
      },
    },
  ];
}

/** Who asks for features. */
export function sendersSection(store: UsageStore): Section {
  return { add: ({ senders }) => putSights(store, senders) };
}
