import { useSignal } from '@preact/signals';
import { maxPasskeys, relyingPartyId } from '../../../contract/passkeys.ts';
import type { Passkey } from '../../../contract/shapes/passkey.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { settings } from '../../api/settings.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Reason } from '../../parts/failure.tsx';
import { ConfirmButton } from '../../parts/form/confirm.tsx';
import { Field, Form } from '../../parts/form/form.tsx';
import { Part } from '../../parts/resource/part.tsx';
import { Ago, Time } from '../../parts/table/columns.tsx';
import { Table } from '../../parts/table/table.tsx';

const isPossible = relyingPartyId(settings.authUrl) !== undefined;

const impossible =
  'Browsers allow passkeys only at an https address with a host name, or on localhost. The setting --auth-url has another one.';

/** The passkeys of the reader. They are added on a page of the auth host, to which browsers bind them. */
export function Passkeys({ id }: { readonly id: string }) {
  const path = resource('users', id, 'passkeys');
  const { data, error } = usePoll<{ items: readonly Passkey[] }>(path, 15_000);
  const items = data?.items ?? [];
  return (
    <Part
      title="Passkeys"
      help="oauth#passkeys"
      note="Sign in with your fingerprint, your face or the PIN of your device, instead of your password."
    >
      <Reason error={data === undefined ? error : undefined} />
      {items.length > 0 && <PasskeyTable items={items} path={path} />}
      {isPossible && items.length < maxPasskeys && (
        <p class="actions">
          <a class="button" href={`${settings.authUrl}/connect/passkey`}>
            Add a passkey
          </a>
        </p>
      )}
      {!isPossible && <p class="callout callout-note">{impossible}</p>}
    </Part>
  );
}

function PasskeyTable({ items, path }: { readonly items: readonly Passkey[]; readonly path: string }) {
  return (
    <Table
      stacked
      caption="Passkeys"
      rows={items}
      rowKey={({ id }) => id}
      columns={[
        { key: 'name', title: 'Name', cell: ({ name }) => name },
        { key: 'backedUp', title: 'Kept', cell: ({ backedUp }) => (backedUp ? 'Synced' : 'On one device') },
        { key: 'createdAt', title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          key: 'lastUsedAt',
          title: 'Last used',
          cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} never="Never" />,
        },
        {
          key: 'do',
          title: 'Actions',
          class: 'settings-do',
          cell: (passkey) => <Actions passkey={passkey} path={path} />,
        },
      ]}
    />
  );
}

function Actions({ passkey: { id, name }, path }: { readonly passkey: Passkey; readonly path: string }) {
  const isRenaming = useSignal(false);
  const own = `${path}/${id}`;
  const close = () => (isRenaming.value = false);
  return (
    <div class="actions">
      <button
        type="button"
        aria-label={`Rename the passkey ${name}`}
        onClick={() => (isRenaming.value = true)}
      >
        Rename …
      </button>
      {isRenaming.value && (
        <Dialog title={`Rename the passkey ${name}`} onClose={close}>
          <Form
            submit="Save the name"
            done="The name is saved"
            codes={{ invalid_name: 'name' }}
            onCancel={close}
            onSubmit={async (data) => {
              await call('PATCH', own, { body: { name: data.get('name') } });
              forget(path);
              close();
            }}
          >
            <Field name="name" label="Name" value={name} required autoFocus autocomplete="off" />
          </Form>
        </Dialog>
      )}
      <ConfirmButton
        label="Remove"
        title={`Remove the passkey ${name}`}
        action="Remove the passkey"
        done={`The passkey ${name} is removed`}
        onConfirm={async () => {
          await call('DELETE', own);
          forget(path);
        }}
      >
        <p>Nobody can sign in with it again. Your sessions continue. Also delete it from your device.</p>
      </ConfirmButton>
    </div>
  );
}
