import { addExposure } from '../aggregate/add-exposure.ts';
import { seriesPerEnvironment } from '../lmdb/blocks.ts';
import { exposuresKey, listPerson, putExposures, readExposures, removeExposures } from '../lmdb/exposures.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { PendingRows } from './pending-rows.ts';
import { eachExposure } from './records/exposures.ts';
import type { Section } from './section.ts';

interface Person {
  /** The day that a new person is listed under; `undefined` for one who has exposures. */
  readonly day: number | undefined;
  /** The first and the last of the rows that this transaction adds: see `PendingRows`. */
  first: number;
  last: number;
}

/**
 * Which variants people were given. A transaction writes each person once, however many packets report on them. It may have
 * 100 000 people, so their new rows are kept as numbers and written in key order: neighbours share a page. Nothing stays in
 * memory between transactions, so a sweep or a deletion need not inform this section.
 * @param peoplePerEnvironment maximum number of people per environment whose exposures are kept
 */
export function exposuresSection(store: UsageStore, peoplePerEnvironment: number): Section {
  /** The people of this transaction by key; `undefined` if the environment has no room for them. */
  const people = new Map<string, Person | undefined>();
  const rows = new PendingRows();

  function personOf(environment: number, digest: Buffer, seconds: number): Person | undefined {
    const key = exposuresKey(environment, digest);
    const name = key.toString('latin1');
    if (people.has(name)) return people.get(name);
    const listed = store.exposures.doesExist(key)
      ? { day: undefined }
      : listPerson(store, key, seconds, peoplePerEnvironment);
    const person = listed && { day: listed.day, first: PendingRows.none, last: PendingRows.none };
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
          if (!isKnown) person = personOf(Math.floor(ref / seriesPerEnvironment), digest, seconds);
          isKnown = true;
          if (person === undefined) return;
          person.last = rows.add(person.last, ref % seriesPerEnvironment, seconds, checks, used, viewed);
          if (person.first === PendingRows.none) person.first = person.last;
        },
      });
      for (const forgotten of envelope.forgotten) {
        for (const environment of forgotten.environments) {
          const key = exposuresKey(environment, Buffer.from(forgotten.digest, 'hex'));
          const name = key.toString('latin1');
          const known = people.get(name);
          if (known !== undefined) putPerson(store, rows, key, known); // A listed person without a value would still be counted.
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

function putPeople(store: UsageStore, rows: PendingRows, people: ReadonlyMap<string, Person | undefined>) {
  for (const name of [...people.keys()].sort()) {
    const person = people.get(name);
    if (person !== undefined) putPerson(store, rows, Buffer.from(name, 'latin1'), person);
  }
}

function putPerson(store: UsageStore, rows: PendingRows, key: Buffer, { day, first }: Person): void {
  const exposures = day === undefined ? readExposures(store, key)! : { day, rows: new Map() };
  rows.each(first, (ordinal, seconds, checks, used, viewed) =>
    addExposure(exposures, ordinal, seconds, seconds, checks, used, viewed),
  );
  putExposures(store, key, exposures);
}
