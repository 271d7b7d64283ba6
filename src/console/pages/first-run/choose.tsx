import { useEffect } from 'preact/hooks';
import { environmentAddress, useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { withQuery } from '../../api/client.ts';
import { type Source, sources } from './sources.ts';
import type { Target } from './target.ts';

interface ChooseSourceProps {
  readonly app: string;
  readonly env: string;
  readonly chosen?: Source | undefined;
}

export function ChooseSource({ app, env, chosen }: ChooseSourceProps) {
  const kept = keptChoice({ application: app, environment: env });
  return (
    <ul class="plain-list connect-sources">
      {sources.map(({ id, label, hint }) => (
        <li key={id}>
          <a
            href={withQuery(environmentAddress(app, env, 'connect'), id === kept?.use ? { ...kept } : { use: id })}
            aria-current={id === chosen?.id}
          >
            <strong>{label}</strong>
            <span class="hint">{hint}</span>
            {chosen === undefined && id === kept?.use && <span class="hint">Continue with the steps.</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}

interface ChooseTargetProps {
  readonly source: Source;
  readonly chosen: Target;
  readonly onChoose: (id: string) => void;
}

export function ChooseTarget({ source: { choice, targets }, chosen, onChoose }: ChooseTargetProps) {
  return (
    <fieldset class="actions connect-targets">
      <legend>{choice}</legend>
      {targets.map(({ id, label }) => (
        <button key={id} type="button" aria-pressed={id === chosen.id} onClick={() => onChoose(id)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}

/** Choices on the page Connect: the source (`use`), the target (`with`), and the id of a key. The id is not secret. */
interface Choice {
  readonly use: string;
  readonly with?: string | undefined;
  readonly key?: string | undefined;
}

const storageKey = 'flagmeter-connect';
const most = 20;

type StoredChoices = readonly (readonly [place: string, choice: Choice])[];

function keptChoice(place: InEnvironment): Choice | undefined {
  return new Map(readStored()).get(formatPlace(place));
}

/** Stores the choices in the address, and restores the stored choices if the address has no choices. */
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
  const name = formatPlace(place);
  const others = readStored().filter(([each]) => each !== name);
  try {
    localStorage.setItem(storageKey, JSON.stringify([...others, [name, choice]].slice(-most)));
  } catch {
    // If storage is unavailable, the choices are only in the address.
  }
}

function readStored(): StoredChoices {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '[]') as StoredChoices;
  } catch {
    return [];
  }
}

function formatPlace({ application, environment }: InEnvironment): string {
  return `${application}/${environment}`;
}
