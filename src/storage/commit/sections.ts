import { HotLedger } from '../aggregate/hot-ledger.ts';
import { countUser, type HotTables } from '../aggregate/hot-tables.ts';
import { addExposure, addValue, mergeMeasurement } from '../aggregate/merge.ts';
import { decodeMinute, seriesPerEnvironment } from '../lmdb/blocks.ts';
import { CumulativeTotals, eachAdded, noteLine } from '../lmdb/cumulative.ts';
import { exposuresKey, listPerson, putExposures, readExposures, removeExposures } from '../lmdb/exposures.ts';
import { putHashedMint, putHashedUse, removeIdentity } from '../lmdb/instances.ts';
import { putMessages } from '../lmdb/messages.ts';
import { putSights } from '../lmdb/senders.ts';
import { putSeries } from '../lmdb/series.ts';
import { recordTotal } from '../lmdb/totals.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import type { Envelope } from './envelope.ts';
import {
  eachCount,
  eachExposure,
  eachImportedCount,
  eachMeasurement,
  eachSummary,
  eachUser,
  listImportedMessages,
  messageChanges,
} from './records.ts';

export interface Groups<T> {
  /** Data that every report reads, folded about once a second. */
  readonly prompt: T;
  /** Users and exposures, folded less often, because each person changes a different page. */
  readonly people: T;
}

/**
 * The sections of a batch in the order in which they are written: names come before records that refer to them, and
 * `prompt` comes before `people`.
 * @param maxIdentities maximum number of people per environment whose exposures are kept
 */
export function createSections(store: UsageTables, hot: HotTables, maxIdentities: number): Groups<readonly Section[]> {
  const rows = new HotLedger(store, true);
  return {
    prompt: [
      ...countingSections(store, hot),
      cumulativeSection(store, hot, rows),
      totalsSection(store, hot),
      instancesSection(store),
      sendersSection(store),
      ledgerSection(store, rows),
    ],
    people: [usersSection(hot), exposuresSection(store, maxIdentities)],
  };
}

export function countingSections(store: UsageTables, { counts, measurements, seen }: HotTables): readonly Section[] {
  return [
    { add: ({ series }) => series.forEach((each) => void putSeries(store, each)) },
    {
      add(envelope) {
        const messages = messageChanges(envelope);
        putMessages(store, messages);
        eachCount(envelope, (ref, bucket, checks, used, viewed) => counts.add(ref, bucket, checks, used, viewed));
        const imported = listImportedMessages(envelope, messages);
        eachMeasurement(
          envelope,
          (ref, bucket, value, at) => addValue(measurements.touch(ref, bucket), value, at),
          imported,
        );
        eachUser(envelope, (ref, minute) => seen.record(ref, minute));
        for (const message of imported) {
          eachImportedCount(envelope, message, (ref, bucket) => seen.recordEarlier(ref, decodeMinute(bucket)));
          eachSummary(envelope, message, (ref, bucket, summary) =>
            mergeMeasurement(measurements.touch(ref, bucket), summary),
          );
        }
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

/** Counts and notes of cumulative messages. Runs in the same transaction as `countingSections` and `ledgerSection`. */
function cumulativeSection(
  store: UsageTables,
  { counts, measurements }: Pick<HotTables, 'counts' | 'measurements'>,
  ledger: HotLedger,
): Section {
  const totals = new CumulativeTotals(store.cumulative);
  return {
    add({ cumulative }) {
      for (const message of cumulative) {
        const { bucket, measuredAt } = message;
        const { rows, note } = totals.add(message);
        eachAdded(rows, {
          count: (ref, checks) => counts.add(ref, bucket, checks, 0, 0),
          measurement: (ref, value) => addValue(measurements.touch(ref, bucket), value, measuredAt),
        });
        if (note !== undefined && message.subject !== '') ledger.add([noteLine(message, note)]);
      }
      totals.expire(cumulative);
    },
    put() {
      counts.put();
      measurements.put();
    },
  };
}

/** Running totals, of which only the increase counts. Runs in the same transaction as `countingSections`. */
function totalsSection(store: UsageTables, { counts }: Pick<HotTables, 'counts'>): Section {
  return {
    add({ totals }) {
      for (const total of totals) {
        const increase = recordTotal(store, total);
        if (increase > 0) counts.add(total.ref, total.bucket, increase, 0, 0);
      }
    },
    put: () => counts.put(),
  };
}

/** Unique users of series. `countingSections` records when these series were first and last seen. */
export function usersSection(hot: HotTables): Section {
  const { sketches, counts } = hot;
  return {
    add: (envelope) => eachUser(envelope, (ref, minute, high, low) => countUser(hot, ref, minute, high, low)),
    put() {
      sketches.put();
      counts.put(); // This call records that a past day has a new user.
    },
    forget() {
      sketches.forget();
      counts.forget();
    },
  };
}

export function sendersSection(store: UsageTables): Section {
  return { add: ({ senders }) => putSights(store, senders) };
}

/** Stores one kind of content of a batch. A transaction stores everything that its sections write, or nothing. */
export interface Section {
  /** Adds the content of this kind from an envelope. Called inside a transaction. */
  add(envelope: Envelope): void;
  /** Writes additions that are still in memory. Called before the transaction ends. */
  put?(): void;
  /** Drops all state in memory after a failed transaction. Only the stored data is then right. */
  forget?(): void;
}

/** Issued instance ids, their uses, and identities to be forgotten. The section keeps no state in memory. */
function instancesSection(store: UsageTables): Section {
  return {
    add({ mints, uses, forgotten }) {
      for (const mint of mints) putHashedMint(store, mint);
      for (const use of uses) putHashedUse(store, use);
      for (const { application, digest } of forgotten) {
        removeIdentity(store, application, Buffer.from(digest, 'hex'));
      }
    },
  };
}

export function ledgerSection(store: UsageTables, rows = new HotLedger(store, true)): Section {
  return { add: ({ ledger }) => rows.add(ledger), put: () => rows.put(), forget: () => rows.forget() };
}

interface Person {
  /** The day under which a new person is listed; `undefined` for a person with exposures. */
  readonly day: number | undefined;
  /** The index of the first row that this transaction adds (see `PendingRows`). `last`: the index of the last row. */
  first: number;
  last: number;
}

/**
 * The variants that people were given. A transaction writes each person once, in key order, because neighbours share a
 * page. A transaction can have 100 000 people. `PendingRows` holds their new rows until the end of the transaction.
 * @param peoplePerEnvironment maximum number of people per environment whose exposures are kept
 */
export function exposuresSection(store: UsageTables, peoplePerEnvironment: number): Section {
  /** The people of this transaction by key; `undefined` if the environment has too many people. */
  const people = new Map<string, Person | undefined>();
  const rows = new PendingRows();

  function findPerson(environment: number, digest: Buffer, seconds: number): Person | undefined {
    const key = exposuresKey(environment, digest);
    const name = key.toString('latin1');
    if (people.has(name)) return people.get(name);
    const listed = store.exposures.doesExist(key)
      ? { day: undefined }
      : listPerson(store, key, seconds, peoplePerEnvironment);
    const person = listed && { day: listed.day, first: none, last: none };
    people.set(name, person);
    return person;
  }

  function clear(): void {
    people.clear();
    rows.clear();
  }

  return {
    add(envelope) {
      let digest: Buffer;
      let person: Person | undefined;
      let isKnown = false;
      eachExposure(envelope, {
        person(next) {
          digest = next;
          isKnown = false;
        },
        exposure(ref, seconds, checks, used, viewed) {
          if (!isKnown) person = findPerson(Math.floor(ref / seriesPerEnvironment), digest, seconds);
          isKnown = true;
          if (person === undefined) return;
          person.last = rows.add(person.last, ref % seriesPerEnvironment, seconds, checks, used, viewed);
          if (person.first === none) person.first = person.last;
        },
      });
      for (const forgotten of envelope.forgotten) {
        for (const environment of forgotten.environments) {
          const key = exposuresKey(environment, Buffer.from(forgotten.digest, 'hex'));
          const name = key.toString('latin1');
          const known = people.get(name);
          // Stored first: otherwise `removeExposures` would not find the person, who would still be counted.
          if (known !== undefined) putPerson(store, rows, key, known);
          people.delete(name);
          removeExposures(store, key);
        }
      }
    },
    put() {
      putPeople(store, rows, people);
      clear();
    },
    forget: clear,
  };
}

function putPeople(store: UsageTables, rows: PendingRows, people: ReadonlyMap<string, Person | undefined>) {
  for (const name of [...people.keys()].sort()) {
    const person = people.get(name);
    if (person !== undefined) putPerson(store, rows, Buffer.from(name, 'latin1'), person);
  }
}

function putPerson(store: UsageTables, rows: PendingRows, key: Buffer, { day, first }: Person): void {
  const exposures = day === undefined ? readExposures(store, key)! : { day, rows: new Map() };
  rows.each(first, (ordinal, seconds, checks, used, viewed) =>
    addExposure(exposures, ordinal, seconds, seconds, checks, used, viewed),
  );
  putExposures(store, key, exposures);
}

/** Numbers per row: the index of the same person's next row, and five values. */
const width = 6;
const firstRows = 1024;
/** The index that means "no row". */
const none = -1;

/**
 * Linked lists of the rows to write at the end of a transaction. The rows are numbers in one array, because 100 000
 * people can have a million rows.
 */
class PendingRows {
  #numbers = new Float64Array(firstRows * width);
  #end = 0;

  /**
   * Adds a row to the end of a list.
   * @param last the index of the list's last row, or `none` for a new list
   * @returns the index of the row
   */
  add(last: number, a: number, b: number, c: number, d: number, e: number): number {
    const at = this.#end;
    if (at === this.#numbers.length) this.#grow();
    const numbers = this.#numbers;
    numbers[at] = none;
    numbers[at + 1] = a;
    numbers[at + 2] = b;
    numbers[at + 3] = c;
    numbers[at + 4] = d;
    numbers[at + 5] = e;
    if (last !== none) numbers[last] = at;
    this.#end = at + width;
    return at;
  }

  /** Visits the rows of a list in order. @param first the index of the list's first row, or `none` */
  each(first: number, visit: (a: number, b: number, c: number, d: number, e: number) => void): void {
    const numbers = this.#numbers;
    for (let at = first; at !== none; at = numbers[at]!) {
      visit(numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!, numbers[at + 4]!, numbers[at + 5]!);
    }
  }

  /** Drops all rows and frees their memory. */
  clear(): void {
    this.#end = 0;
    if (this.#numbers.length > firstRows * width) this.#numbers = new Float64Array(firstRows * width);
  }

  #grow(): void {
    const larger = new Float64Array(this.#numbers.length * 2);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
