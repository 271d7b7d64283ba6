import { addExposure, openExposures } from '../aggregate/add-exposure.ts';
import { seriesPerEnvironment } from '../lmdb/blocks.ts';
import { type Exposures, exposuresKey, putExposures, removeExposures } from '../lmdb/exposures.ts';
import type { UsageStore } from '../lmdb/usage.ts';
import { eachExposure } from './records/exposures.ts';
import type { Section } from './section.ts';

interface Person {
  readonly key: Buffer;
  /** `undefined` when the environment has no room for this person. */
  readonly exposures: Exposures | undefined;
}

/**
 * Which variants people were given. A person costs one get and one put a transaction, however many packets report on the
 * person. Nothing is kept in memory between two transactions, so a sweep or a deletion need not inform this section.
 * @param peoplePerEnvironment of more people than that, the first have exposures
 */
export function exposuresSection(store: UsageStore, peoplePerEnvironment: number): Section {
  /** The people of this transaction, with what it adds to them. */
  const people = new Map<string, Person>();

  function personOf(environment: number, digest: Buffer, seconds: number): Person {
    const key = exposuresKey(environment, digest);
    const name = key.toString('latin1');
    const known = people.get(name);
    if (known !== undefined) return known;
    const opened = { key, exposures: openExposures(store, key, seconds, peoplePerEnvironment) };
    people.set(name, opened);
    return opened;
  }

  function put({ key, exposures }: Person): void {
    if (exposures !== undefined) putExposures(store, key, exposures);
  }

  return {
    add(envelope) {
      let digest: Buffer;
      let person: Person | undefined;
      eachExposure(envelope, {
        person(next) {
          digest = next;
          person = undefined;
        },
        exposure(ref, seconds, checks, used, viewed) {
          person ??= personOf(Math.floor(ref / seriesPerEnvironment), digest, seconds);
          if (person.exposures === undefined) return;
          addExposure(person.exposures, ref % seriesPerEnvironment, seconds, seconds, checks, used, viewed);
        },
      });
      for (const forgotten of envelope.forgotten) {
        for (const environment of forgotten.environments) {
          const key = exposuresKey(environment, Buffer.from(forgotten.digest, 'hex'));
          const name = key.toString('latin1');
          const known = people.get(name);
          if (known !== undefined) put(known); // A person who is listed and has no value would still be counted.
          people.delete(name);
          removeExposures(store, key);
        }
      }
    },
    put() {
      for (const person of people.values()) put(person);
      people.clear();
    },
    forget: () => people.clear(),
  };
}
