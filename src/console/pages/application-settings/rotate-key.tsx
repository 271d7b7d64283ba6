import { useSignal } from '@preact/signals';
import { call, resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import { Secret } from '../../parts/create.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import type { ApplicationKey, NewApplicationKey } from '../settings/shapes.ts';
import { LastUse } from './last-use.tsx';
import { createKey, shownKey } from './new-key.tsx';

export interface RotateKeyProps {
  readonly application: string;
  readonly old: ApplicationKey;
  readonly onClose: () => void;
}

/** Replaces a key in three steps: a new one beside it, both in use, the old one deleted. It can be left after each. */
export function RotateKey(props: RotateKeyProps) {
  const { application, old, onClose } = props;
  const made = useSignal<NewApplicationKey | undefined>(undefined);
  const stored = useSignal(false);
  if (made.value !== undefined) {
    if (stored.value) return <SwitchOver {...props} made={made.value} />;
    return <Secret {...shownKey(made.value)} onDone={() => (stored.value = true)} />;
  }
  return (
    <Dialog title={`Rotate the key ${old.name}`} onClose={onClose}>
      <ol>
        <li>A new {old.type} key is created. The old one goes on working.</li>
        <li>You change your senders to the new key, and see here when each key was last used.</li>
        <li>When the old key is quiet, you delete it.</li>
      </ol>
      <Form
        submit="Create the new key"
        done="The new key is created"
        onCancel={onClose}
        onSubmit={async () => {
          made.value = await createKey(application, old.type, old.name);
        }}
      />
    </Dialog>
  );
}

function SwitchOver({
  application,
  old,
  made,
  onClose,
}: RotateKeyProps & { readonly made: NewApplicationKey }) {
  const keys = resource('applications', application, 'keys');
  const { data } = usePoll<{ items: readonly ApplicationKey[] }>(`${keys}?limit=200`, 3000);
  const oldNow = data?.items.find(({ id }) => id === old.id) ?? old;
  const newNow = data?.items.find(({ id }) => id === made.id);
  return (
    <Dialog title={`Change over to the new key ${made.name}`} onClose={onClose}>
      <p>Both keys work. Change your senders to the new one now; this page looks every few seconds.</p>
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Last used</th>
          </tr>
        </thead>
        <tbody>
          <KeyRow words="New" of={newNow} />
          <KeyRow words="Old" of={oldNow} />
        </tbody>
      </table>
      <LastUse of={{ ...oldNow, name: 'The old key' }} />
      <Form
        submit="Delete the old key"
        done="The old key is deleted"
        danger
        onSubmit={async () => {
          await call('DELETE', resource('applications', application, 'keys', old.id));
          onClose();
        }}
      />
      <p class="actions">
        <button type="button" onClick={onClose}>
          Keep both for now
        </button>
        <span class="quiet">The list of keys has both; delete the old one there later.</span>
      </p>
    </Dialog>
  );
}

function KeyRow({ words, of: key }: { readonly words: string; readonly of: ApplicationKey | undefined }) {
  return (
    <tr>
      <th scope="row">
        {words} <code>{key?.prefix}…</code>
      </th>
      <td>{key?.lastUsedAt ? format.relative(key.lastUsedAt, now.value) : 'not yet'}</td>
    </tr>
  );
}
