import { useId } from 'preact/hooks';
import type { FeatureDetailShown } from '../../../contract/shapes/feature.ts';
import { call } from '../../api/client.ts';
import { format } from '../../format.ts';
import { Field, Form } from '../../parts/form.tsx';
import { reread, useChange } from './change.ts';
import { type FlagPlace, flagPath } from './paths.ts';

/** What the team has written down about the flag; the chart shows each note as a marker. */
export function Notes({ place, detail }: { readonly place: FlagPlace; readonly detail: FeatureDetailShown }) {
  const { busy, refusal, run } = useChange();
  async function remove(id: string) {
    await call('DELETE', flagPath(place, 'notes', id)!);
    reread(place);
  }
  return (
    <section aria-labelledby="flag-notes">
      <h2 id="flag-notes">Notes</h2>
      <ul class="flag-notes">
        {detail.notes.map(({ id, at, text, environment, by }) => (
          <li key={id}>
            <span>
              {text}
              <span class="quiet">
                {' '}
                {format.time(at)}, {environment ?? 'all environments'}, {by}
              </span>
            </span>
            <button
              type="button"
              disabled={busy}
              aria-label={`Delete the note: ${text}`}
              onClick={() => run(() => remove(id), 'The note is deleted')}
            >
              Delete
            </button>
          </li>
        ))}
      </ul>
      {refusal && (
        <p class="form-error" role="alert">
          {refusal}
        </p>
      )}
      <NoteForm place={place} />
    </section>
  );
}

/** Writes a note. The chart shows it as a marker. */
function NoteForm({ place }: { readonly place: FlagPlace }) {
  const all = useId();
  async function add(data: FormData) {
    const at = String(data.get('at'));
    await call('POST', flagPath(place, 'notes')!, {
      body: {
        text: String(data.get('text')),
        ...(at === '' ? {} : { at: new Date(at).toISOString() }),
        ...(data.get('all') === null ? { environment: place.environment } : {}),
      },
    });
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
      <Field name="at" label="When" type="datetime-local" hint={`In ${format.place}. Without a time: now.`} />
      <p class="flag-check">
        <input id={all} type="checkbox" name="all" />{' '}
        <label for={all}>About all environments, not only {place.environment}</label>
      </p>
    </Form>
  );
}
