import { useId } from 'preact/hooks';
import type { ActivityItem } from '../../../contract/shapes/activity.ts';
import type { FeatureDetail, Note } from '../../../contract/shapes/feature.ts';
import { environmentAddress } from '../../address/address.ts';
import { call, resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { useAction } from '../../components/action.tsx';
import { ActivityText } from '../../components/activity-text.tsx';
import { Dialog, useDialog } from '../../components/dialog.tsx';
import { Reason } from '../../components/failure.tsx';
import { Field, Form } from '../../components/form/form.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { type FeaturePlace, featurePath, reread } from './change.tsx';

const everyMs = 10_000;

/** Query for the latest changes, regardless of the range of the charts. */
const latest = { from: '1970-01-01T00:00:00Z', limit: 10 };

/** The latest changes of the flag: notes, settings, experiments, and changes in its data. */
export function Activity({ place, detail }: { readonly place: FeaturePlace; readonly detail: FeatureDetail }) {
  const { application, environment, name } = place;
  const { busy, refusal, run } = useAction();
  const dialog = useDialog();
  const path = withQuery(resource('applications', application, 'activity'), { environment, feature: name, ...latest });
  const { data, error } = usePoll<{ readonly items: readonly ActivityItem[] }>(path, everyMs);
  async function remove(id: string) {
    await call('DELETE', featurePath(place, 'notes', id)!);
    reread(place);
  }
  return (
    <section aria-labelledby="flag-activity">
      <div class="head flag-bar">
        <h2 id="flag-activity">Activity</h2>
        <a href={withQuery(environmentAddress(application, environment, 'activity'), { flag: name, range: '90d' })}>
          All changes
        </a>
        {hasRole('User') && (
          <button type="button" onClick={() => dialog.open(<NoteDialog place={place} onClose={dialog.close} />)}>
            Add note
          </button>
        )}
      </div>
      <Reason error={error} what="The activity" />
      <ul class="plain-list flag-activity">
        {data?.items.map((item) => (
          <li key={item.id}>
            <span>
              <ActivityText item={item} />
              <span class="quiet"> · {format.time(item.at)}</span>
            </span>
            <DeleteNote
              note={findNote(item, detail)}
              disabled={busy}
              onDelete={(id) => run(() => remove(id), 'Note deleted')}
            />
          </li>
        ))}
      </ul>
      {refusal}
      {dialog.element}
    </section>
  );
}

/** Returns the note that an item shows. Notes with equal fields are interchangeable. */
function findNote({ kind, at, text, environment }: ActivityItem, { notes }: FeatureDetail): Note | undefined {
  return kind === 'note'
    ? notes.find((note) => note.at === at && note.text === text && note.environment === environment)
    : undefined;
}

interface DeleteNoteProps {
  readonly note: Note | undefined;
  readonly disabled: boolean;
  readonly onDelete: (id: string) => void;
}

function DeleteNote({ note, disabled, onDelete }: DeleteNoteProps) {
  if (note === undefined || !hasRole('User')) return null;
  return (
    <button
      type="button"
      disabled={disabled}
      aria-label={`Delete note: ${note.text}`}
      onClick={() => onDelete(note.id)}
    >
      Delete
    </button>
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
        <Field
          name="at"
          label="When"
          type="datetime-local"
          hint={`Time in ${format.place}; empty means now. A later note appears at its time.`}
        />
        <p class="flag-check">
          <input id={all} type="checkbox" name="all" />{' '}
          <label for={all}>Applies to all environments, not only {place.environment}</label>
        </p>
      </Form>
    </Dialog>
  );
}
