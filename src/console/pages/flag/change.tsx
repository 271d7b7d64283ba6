import { call, resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { useAction } from '../../parts/action.tsx';

/** The flag of the page. */
export interface FlagPlace {
  readonly application: string;
  readonly environment: string;
  readonly name: string;
}

/** The path of a flag, or of a resource below it; `undefined` for the names `.` and `..`, which a path cannot contain. */
export function flagPath({ application, name }: FlagPlace, ...rest: readonly string[]): string | undefined {
  if (name === '.' || name === '..') return undefined;
  return resource('applications', application, 'features', name, ...rest);
}

/** Reads everything again that a change of a flag affects. */
export function reread({ application }: FlagPlace): void {
  forget(resource('applications', application, 'features'));
  forget(resource('applications', application, 'overview'));
  forget(resource('applications', application, 'activity'));
}

/** Changes the declaration of a flag, and declares it if necessary. @throws {ApiProblem} */
export async function changeFlag(place: FlagPlace, patch: object): Promise<void> {
  await call('PATCH', flagPath(place)!, { body: patch });
  reread(place);
}

/** Declares a flag. */
export function DeclareButton({ place }: { readonly place: FlagPlace }) {
  const { busy, refusal, run } = useAction();
  async function declare() {
    const body = { name: place.name };
    await call('POST', resource('applications', place.application, 'features'), { body });
    reread(place);
  }
  return (
    <>
      <button type="button" disabled={busy} onClick={() => run(declare, `${place.name} is declared`)}>
        Declare it
      </button>
      {refusal}
    </>
  );
}
