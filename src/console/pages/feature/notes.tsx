import { useId } from 'preact/hooks';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import { call } from '../../api/client.ts';
import { useAction } from '../../components/action.tsx';
import { Dialog, useDialog } from '../../components/dialog.tsx';
import { Field, Form } from '../../components/form/form.tsx';
import { ReadOnlyNote } from '../../components/resource/part.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { type FeaturePlace, featurePath, reread } from './change.tsx';

/** The team's notes on the flag. The chart marks each note. */
export function Notes({ place, detail }: { readonly place: FeaturePlace; readonly detail: FeatureDetail }) {
  const { busy, refusal, run } = useAction();
  const dialog = useDialog();
  async function remove(id: string) {
    await call('DELETE', featurePath(place, 'notes', id)!);
    reread(place);
  }
  return (
    <section aria-labelledby="flag-notes">
      <div class="head flag-bar">
        <h2 id="flag-notes">Notes</h2>
        {hasRole('User') && (
          <button type="button" onClick={() => dialog.open(<NoteDialog place={place} onClose={dialog.close} />)}>
            Add note
          </button>
        )}
      </div>
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
                aria-label={`Delete note: ${text}`}
                onClick={() => run(() => remove(id), 'Note deleted')}
              >
                Delete
              </button>
            )}
          </li>
        ))}
      </ul>
      {refusal}
      <ReadOnlyNote what="notes" least="User" />
      {dialog.element}
    </section>
  );
}

function NoteDialog({ place, onClose }: { readonly place: FeaturePlace; readonly onClose: () => void }) {
  const all = useId();
  async function add(data: FormData) {
    const at = String(data.get('at'));
    const body = {
      text: String(data.get('text')),
      ...(at === '' ? {} : { at: new Date(at).toISOString() }),
      ...(data.get('all') === null ? { environment: place.environment } : {}),
    };
    await call('POST', featurePath(place, 'notes')!, { body });
    reread(place);
    onClose();
  }
  return (
    <Dialog title="Add note" onClose={onClose}>
      <Form onSubmit={add} submit="Add note" done="Note added" onCancel={onClose}>
        <Field
          name="text"
          label="New note"
          required
          autoFocus
          maxLength={500}
          placeholder="Rollout to half of the users"
        />
        <Field name="at" label="When" type="datetime-local" hint={`Time in ${format.place}; empty means now.`} />
        <p class="flag-check">
          <input id={all} type="checkbox" name="all" />{' '}
          <label for={all}>Applies to all environments, not only {place.environment}</label>
        </p>
      </Form>
    </Dialog>
  );
}
