import { useSignal } from '@preact/signals';
import type { ApplicationKey, ApplicationKeyShownOnce } from '../../../contract/shapes/application-key.ts';
import { call, resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Secret } from '../../parts/form/create.tsx';
import { Form } from '../../parts/form/form.tsx';
import { Ago } from '../../parts/table/columns.tsx';
import { format } from '../../text/format.ts';
import { shownKey } from './key-types.ts';
import { LastUse, Refusals } from './key-use.tsx';

interface RotateKeyProps {
  readonly application: string;
  readonly old: ApplicationKey;
  readonly onClose: () => void;
}

type Rotated = Required<ApplicationKeyShownOnce>;

/** Replaces a key in three steps: create a new one, use both, delete the old one. The reader can stop after each. */
export function RotateKey(props: RotateKeyProps) {
  const { application, old, onClose } = props;
  const made = useSignal<Rotated | undefined>(undefined);
  const stored = useSignal(false);
  if (made.value !== undefined) {
    if (stored.value) return <SwitchOver {...props} made={made.value} />;
    return <Secret {...shownKey(made.value)} onDone={() => (stored.value = true)} />;
  }
  return (
    <Dialog title={`Rotate the key ${old.name}`} onClose={onClose}>
      <ol>
        <li>Create a new {old.type} key. The old one works for another 24 hours.</li>
        <li>Configure the new key in your senders. This dialog shows the last use of each key.</li>
        <li>Delete the old key earlier if it has leaked, or once nothing sends it.</li>
      </ol>
      <LastUse of={old} />
      <Form
        submit="Create the new key"
        done="The new key is created"
        onCancel={onClose}
        onSubmit={async () => {
          const path = resource('applications', application, 'keys', old.id, 'rotate');
          made.value = await call<Rotated>('POST', path);
        }}
      />
    </Dialog>
  );
}

function SwitchOver({ application, old, made, onClose }: RotateKeyProps & { made: Rotated }) {
  const keys = resource('applications', application, 'keys');
  const { data } = usePoll<{ items: readonly ApplicationKey[] }>(`${keys}?limit=200`, 3000);
  const oldNow = data?.items.find(({ id }) => id === old.id) ?? old;
  const newNow = data?.items.find(({ id }) => id === made.id);
  return (
    <Dialog title={`Switch to the new key ${made.name}`} onClose={onClose}>
      <p>
        Both keys work until {format.time(made.previousKeyUntil)}. Configure the new one in your senders. The
        table updates every few seconds.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Last accepted</th>
            <th scope="col">Refused</th>
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
          Keep both until then
        </button>
        <span class="quiet">You can delete the old key earlier, in the list of keys.</span>
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
      <td>
        <Ago at={key?.lastUsedAt ?? null} never="not yet" />
      </td>
      <td>{key && <Refusals of={key} />}</td>
    </tr>
  );
}
