import { call, resource } from '../../api/client.ts';
import { reread, useChange } from './change.ts';
import type { FlagPlace } from './paths.ts';

/** Declares a flag. */
export function DeclareButton({ place }: { readonly place: FlagPlace }) {
  const { busy, refusal, run } = useChange();
  async function declare() {
    await call('POST', resource('applications', place.application, 'features'), {
      body: { name: place.name },
    });
    reread(place);
  }
  return (
    <>
      <button type="button" disabled={busy} onClick={() => run(declare, `${place.name} is declared`)}>
        Declare it
      </button>
      {refusal && (
        <p class="form-error" role="alert">
          {refusal}
        </p>
      )}
    </>
  );
}
