/*
 * src/console/pages/people: what is kept of one person, and how to forget them. An identity names a person, so it stays in this page:
 * it is never part of an address. page.tsx asks for it, exposures.tsx shows what is kept, forget.tsx removes it.
 */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { messageOf } from '../../api/problem.ts';
import type { InEnvironment } from '../../place.ts';
import { Exposures } from './exposures.tsx';
import { Forget } from './forget.tsx';
import { type Kept, readKept } from './kept.ts';

/** The page of an environment. It shows a person in every environment of the application. */
export function PeoplePage({ application: app, environment: env }: InEnvironment) {
  const found = useSignal<Kept | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const busy = useSignal(false);

  async function look(identity: string): Promise<void> {
    busy.value = true;
    error.value = undefined;
    try {
      found.value = await readKept(app, identity);
    } catch (caught) {
      error.value = caught;
    } finally {
      busy.value = false;
    }
  }

  return (
    <div class="people">
      <h1>People</h1>
      <p class="quiet">
        Which variants one person had. Type the identity as your application mints or sends it: it does not
        get into the address or the history of this browser.
      </p>
      <Ask busy={busy.value} error={error.value} onAsk={look} />
      {found.value !== undefined && (
        <section class="people-found" aria-live="polite">
          <Exposures kept={found.value} first={env} />
          <Forget app={app} identity={found.value.identity} onForgotten={() => look(found.value!.identity)} />
        </section>
      )}
    </div>
  );
}

interface AskProps {
  readonly busy: boolean;
  readonly error: unknown;
  readonly onAsk: (identity: string) => Promise<void>;
}

/** Asks for an identity. What was typed stays when it cannot be read. */
function Ask({ busy, error, onAsk }: AskProps) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <form
      class="people-ask"
      autocomplete="off"
      aria-busy={busy}
      onSubmit={(event) => {
        event.preventDefault();
        void onAsk(field.current!.value);
      }}
    >
      <label for="people-identity">Identity</label>
      <div class="people-line">
        <input
          ref={field}
          id="people-identity"
          required
          maxLength={256}
          spellcheck={false}
          autocomplete="off"
        />
        <button type="submit" class="primary" disabled={busy}>
          {busy ? 'Looking …' : 'Show'}
        </button>
      </div>
      {error !== undefined && (
        <p class="form-error" role="alert">
          {messageOf(error)}
        </p>
      )}
    </form>
  );
}
