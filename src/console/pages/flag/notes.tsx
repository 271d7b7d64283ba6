import { useId } from 'preact/hooks';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import { call } from '../../api/client.ts';
import { useAction } from '../../parts/action.tsx';
import { Field, Form } from '../../parts/form/form.tsx';
import { ReadOnlyNote } from '../../parts/resource/part.tsx';
import { hasRole } from '../../reader/roles.ts';
import { format } from '../../text/format.ts';
import { type FlagPlace, flagPath, reread } from './change.tsx';

/** The team's notes on the flag. The chart marks each of them. */
export function Notes({ place, detail }: { readonly place: FlagPlace; readonly detail: FeatureDetail }) {
  const { busy, refusal, run } = useAction();
  async function remove(id: string) {
    await call('DELETE', flagPath(place, 'notes', id)!);
    reread(place);
  }
  return (
    <section aria-labelledby="flag-notes">
      <h2 id="flag-notes">Notes</h2>
      <ul class="plain-list flag-notes">
        {detail.notes.map(({ id, at, text, environment, by }) => (
          <li key={id}>
            <span>
              {text}
              <span class="quiet">
                {' '}
                {format.time(at)}, {environment ?? 'all environments'}, {by}
              </span>
            </span>
            {hasRole('User') && (
              <button
                type="button"
                disabled={busy}
                aria-label={`Delete the note: ${text}`}
                onClick={() => run(() => remove(id), 'The note is deleted')}
              >
                Delete
              </button>
            )}
          </li>
        ))}
      </ul>
      {refusal}
      <ReadOnlyNote what="notes" least="User" />
      {hasRole('User') && <NoteForm place={place} />}
    </section>
  );
}

function NoteForm({ place }: { readonly place: FlagPlace }) {
  const all = useId();
  async function add(data: FormData) {
    const at = String(data.get('at'));
    const body = {
      text: String(data.get('text')),
      ...(at === '' ? {} : { at: new Date(at).toISOString() }),
      ...(data.get('all') === null ? { environment: place.environment } : {}),
    };
    await call('POST', flagPath(place, 'notes')!, { body });
    reread(place);
  }
  return (
    <Form onSubmit={add} submit="Add the note" done="The note is added" reset>
      <Field
        name="text"
        label="New note"
        required
        maxLength={500}
        placeholder="Rollout to half of the users"
      />
      <Field name="at" label="When" type="datetime-local" hint={`In ${format.place}; empty for now.`} />
      <p class="flag-check">
        <input id={all} type="checkbox" name="all" />{' '}
        <label for={all}>Applies to all environments, not only {place.environment}</label>
      </p>
    </Form>
  );
}
