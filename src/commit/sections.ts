import { addUser } from '../aggregate/add-user.ts';
import type { HotCells } from '../aggregate/hot-cells.ts';
import type { HotCounts } from '../aggregate/hot-counts.ts';
import type { HotTables } from '../aggregate/hot-tables.ts';
import { addValue } from '../aggregate/merge.ts';
import type { Measurement } from '../store/cells.ts';
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
  return [
    { write: ({ series }) => series.forEach((each) => void putSeries(store, each)), forget: () => {} },
    { write: (envelope) => putMessages(store, messageChanges(envelope)), forget: () => {} },
    countsSection(hot.counts),
    measurementsSection(hot.measurements),
    usersSection(hot),
    { write: () => hot.seen.put(), forget: () => hot.seen.forget() }, // What the three before it have seen.
  ];
}

/** Who asks for features. */
export function sendersSection(store: UsageStore): Section {
  return { write: ({ senders }) => putSights(store, senders), forget: () => {} };
}

function countsSection(cells: HotCounts): Section {
  return {
    write(envelope) {
      eachCount(envelope, (ref, bucket, checks, used, viewed) =>
        cells.add(ref, bucket, checks, used, viewed),
      );
      cells.put();
    },
    forget: () => cells.forget(),
  };
}

function measurementsSection(cells: HotCells<Measurement>): Section {
  return {
    write(envelope) {
      eachMeasurement(envelope, (ref, bucket, value, at) => addValue(cells.touch(ref, bucket), value, at));
      cells.put();
    },
    forget: () => cells.forget(),
  };
}

function usersSection(hot: HotTables): Section {
  const { sketches, counts } = hot;
  return {
    write(envelope) {
      eachUser(envelope, (ref, minute, high, low) => addUser(hot, ref, minute, high, low));
      sketches.put();
      counts.put(); // Whether a day that is over got a user.
    },
    forget: () => sketches.forget(),
  };
}
