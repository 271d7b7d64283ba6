import { useEffect } from 'preact/hooks';
import { useQuery } from '../../address.ts';
import type { InEnvironment } from '../../place.ts';
import { sources } from './sources.ts';

/** A reader's choices on Connect: source, target, and the id of a key, which is not secret. */
export interface Choice {
  readonly use: string;
  readonly with?: string | undefined;
  readonly key?: string | undefined;
}

const storageKey = 'flagmeter-connect';
/** Maximum number of environments with a stored choice. */
const most = 20;

type Stored = readonly (readonly [place: string, choice: Choice])[];

/** The last choice for an environment in this browser. */
export function keptChoice(place: InEnvironment): Choice | undefined {
  return new Map(readStored()).get(nameOf(place));
}

/** Keeps the choices of the address, and puts them back into an address without any. */
export function useKeptChoice(place: InEnvironment): void {
  const { query, change } = useQuery();
  const { use, with: target, key } = query;
  useEffect(() => {
    if (sources.some(({ id }) => id === use)) keep(place, { use: use!, with: target, key });
    else if (use === undefined) {
      const kept = keptChoice(place);
      if (kept !== undefined) change({ ...kept });
    }
  }, [use, target, key]);
}

function keep(place: InEnvironment, choice: Choice): void {
  const name = nameOf(place);
  const others = readStored().filter(([each]) => each !== name);
  try {
    localStorage.setItem(storageKey, JSON.stringify([...others, [name, choice]].slice(-most)));
  } catch {
    // Without storage the choice lasts as long as the address.
  }
}

function readStored(): Stored {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '[]') as Stored;
  } catch {
    return [];
  }
}

function nameOf({ application, environment }: InEnvironment): string {
  return `${application}/${environment}`;
}
