import { addExposure, openExposures } from '../aggregate/add-exposure.ts';
import { seriesPerEnvironment } from '../store/blocks.ts';
import { type Exposures, exposuresKey, putExposures, removeExposures } from '../store/exposures.ts';
import type { UsageStore } from '../store/usage.ts';
import type { Envelope } from './envelope.ts';
import { eachExposure } from './records/exposures.ts';
import type { Section } from './section.ts';

interface Person {
  readonly key: Buffer;
  /** `undefined` when the environment has no room for this person. */
  readonly exposures: Exposures | undefined;
}

/**
 * Which variants people were given. A person costs one get and one put a batch, however many packets tell of the person.
 * Nothing is kept in memory between two batches, so a sweep or a deletion has nothing to tell this section.
 * @param peoplePerEnvironment of more people than that, the first have exposures
 */
export function exposuresSection(store: UsageStore, peoplePerEnvironment: number): Section {
  /** The people of a batch, with what it adds to them. */
  function peopleOf(envelope: Envelope): Iterable<Person> {
    const people = new Map<string, Person>();
    let digest: Buffer;
    let person: Person | undefined;
    eachExposure(envelope, {
      person(next) {
        digest = next;
        person = undefined;
      },
      exposure(ref, seconds, checks, used, viewed) {
        if (person === undefined) {
          const key = exposuresKey(Math.floor(ref / seriesPerEnvironment), digest);
          const name = key.toString('latin1');
          person = people.get(name) ?? {
            key,
            exposures: openExposures(store, key, seconds, peoplePerEnvironment),
          };
          people.set(name, person);
        }
        if (person.exposures === undefined) return;
        addExposure(person.exposures, ref % seriesPerEnvironment, seconds, seconds, checks, used, viewed);
      },
    });
    return people.values();
  }

  return {
    write(envelope) {
      for (const { key, exposures } of peopleOf(envelope)) {
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
