import { addCounts } from '../aggregate/merge.ts';
import { seriesPerEnvironment } from '../store/blocks.ts';
import {
  type Exposures,
  exposuresKey,
  listPerson,
  putExposures,
  readExposures,
  removeExposures,
  rowsPerPerson,
} from '../store/exposures.ts';
import type { UsageStore } from '../store/usage.ts';
import { type Envelope, recordWidth } from './envelope.ts';
import type { Section } from './section.ts';

interface Person {
  readonly key: Buffer;
  /** `undefined` when the environment has no room for this person. */
  readonly exposures: Exposures | undefined;
}

/**
 * What people were given. A person costs one get and one put a batch, however many packets tell of the person; nothing
 * is kept in memory between two batches, so a sweep or a deletion needs to tell nobody.
 * @param peoplePerEnvironment of more people than that, the first have exposures
 */
export function exposuresSection(store: UsageStore, peoplePerEnvironment: number): Section {
  return {
    write(envelope) {
      const people = new Map<string, Person>();
      eachPerson(envelope, (environment, digest, from, to) => {
        const key = exposuresKey(environment, digest);
        const name = key.toString('latin1');
        const person =
          people.get(name) ?? open(store, key, envelope.exposures[from + 1]!, peoplePerEnvironment);
        people.set(name, person);
        if (person.exposures !== undefined) addRows(person.exposures, envelope.exposures, from, to);
      });
      for (const { key, exposures } of people.values()) {
        if (exposures !== undefined) putExposures(store, key, exposures);
      }
      for (const { environments, digest } of envelope.forgotten) {
        for (const environment of environments) {
          removeExposures(store, exposuresKey(environment, Buffer.from(digest, 'hex')));
        }
      }
    },
    forget: () => {},
  };
}

type Visit = (environment: number, digest: Buffer, from: number, to: number) => void;

/** Visits each person of each packet, with where in the array the records of that packet are. */
function eachPerson({ exposures, exposureRecords }: Envelope, visit: Visit): void {
  const end = exposureRecords * recordWidth;
  for (let at = 0; at < end; ) {
    const digest = Buffer.allocUnsafe(16);
    for (let word = 0; word < 4; word++) digest.writeUInt32BE(exposures[at + 1 + word]!, word * 4);
    const from = at + recordWidth;
    let to = from;
    while (to < end && exposures[to]! >= 0) to += recordWidth;
    if (to > from) visit(Math.floor(exposures[from]! / seriesPerEnvironment), digest, from, to);
    at = to;
  }
}

function open(store: UsageStore, key: Buffer, seconds: number, limit: number): Person {
  return { key, exposures: readExposures(store, key) ?? listPerson(store, key, seconds, limit) };
}

function addRows({ rows }: Exposures, records: Float64Array, from: number, to: number): void {
  for (let at = from; at < to; at += recordWidth) {
    const ordinal = records[at]! % seriesPerEnvironment;
    const seconds = records[at + 1]!;
    let row = rows.get(ordinal);
    if (row === undefined) {
      if (rows.size >= rowsPerPerson) continue;
      row = { firstSeen: seconds, lastSeen: seconds, checks: 0, used: 0, viewed: 0 };
      rows.set(ordinal, row);
    }
    if (seconds > row.lastSeen) row.lastSeen = seconds;
    addCounts(row, records[at + 2]!, records[at + 3]!, records[at + 4]!);
  }
}
