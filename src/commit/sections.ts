import type { HotCells } from '../aggregate/hot-cells.ts';
import type { HotSeen } from '../aggregate/hot-seen.ts';
import type { HotSketches } from '../aggregate/hot-sketches.ts';
import type { HotTables } from '../aggregate/hot-tables.ts';
import { addCounts, addValue } from '../aggregate/merge.ts';
import type { Counts, Measurement } from '../store/cells.ts';
import { type MessageChange, putMessages } from '../store/messages.ts';
import { putSeries } from '../store/series.ts';
import type { UsageStore } from '../store/usage.ts';
import { type Envelope, recordWidth } from './envelope.ts';
import { exposuresSection } from './exposures-section.ts';
import { instancesSection } from './instances-section.ts';
import { ledgerSection } from './ledger-section.ts';
import type { Section } from './section.ts';

const minutesPerDay = 1440;

/**
 * What a batch consists of, in the order in which it is written.
 * @param maxIdentities people an environment whose exposures are kept
 */
export function createSections(store: UsageStore, hot: HotTables, maxIdentities: number): readonly Section[] {
  return [
    { write: ({ series }) => series.forEach((each) => void putSeries(store, each)), forget: () => {} },
    { write: (envelope) => putMessages(store, messagesOf(envelope)), forget: () => {} },
    countsSection(hot.counts),
    measurementsSection(hot.measurements),
    usersSection(hot.sketches, hot.seen),
    { write: () => hot.seen.put(), forget: () => hot.seen.forget() }, // What the three before it have seen.
    instancesSection(store),
    exposuresSection(store, maxIdentities),
    ledgerSection(store),
  ];
}

function countsSection(cells: HotCells<Counts>): Section {
  return {
    write({ counts, countRecords }) {
      for (let at = 0; at < countRecords * recordWidth; at += recordWidth) {
        const cell = cells.touch(counts[at]!, counts[at + 1]!);
        addCounts(cell, counts[at + 2]!, counts[at + 3]!, counts[at + 4]!);
      }
      cells.put();
    },
    forget: () => cells.forget(),
  };
}

function measurementsSection(cells: HotCells<Measurement>): Section {
  return {
    write({ measurements, measurementRecords }) {
      for (let at = 0; at < measurementRecords * recordWidth; at += recordWidth) {
        const cell = cells.touch(measurements[at]!, measurements[at + 1]!);
        addValue(cell, measurements[at + 2]!, measurements[at + 3]!);
      }
      cells.put();
    },
    forget: () => cells.forget(),
  };
}

function usersSection(sketches: HotSketches, seen: HotSeen): Section {
  return {
    write({ users, userRecords }) {
      for (let at = 0; at < userRecords * recordWidth; at += recordWidth) {
        const ref = users[at]!;
        const minute = users[at + 1]!;
        seen.mark(ref, minute);
        sketches.add(ref, Math.floor(minute / minutesPerDay), users[at + 2]!, users[at + 3]!);
      }
      sketches.put();
    },
    forget: () => sketches.forget(),
  };
}

function messagesOf({ messages, messageRecords }: Envelope): MessageChange[] {
  return Array.from({ length: messageRecords }, (_, record) => {
    const at = record * recordWidth;
    const identity = Buffer.allocUnsafe(16);
    for (let word = 0; word < 4; word += 1) identity.writeUInt32BE(messages[at + 1 + word]!, word * 4);
    const time = messages[at]!;
    return time < 0 ? { at: -1 - time, identity, forgotten: true } : { at: time, identity };
  });
}
