import { useSignal } from '@preact/signals';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { format } from '../../format.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { useDialog } from '../../parts/open-dialog.ts';
import { Secret } from '../../parts/secret.tsx';
import { settings } from '../../settings.ts';
import { actionsColumn } from './actions-column.tsx';
import { RoleField } from './role-field.tsx';
import type { ApiKey, NewApiKey as MadeApiKey } from './shapes.ts';

/** The API keys of a team. */
export function ApiKeys({ team }: { readonly team: string }) {
  const path = (...rest: string[]) => resource('teams', team, 'api-keys', ...rest);
  const list = useList<ApiKey>(path());
  const dialog = useDialog();
  const close = () => {
    dialog.close();
    void list.reload();
  };
  return (
    <section class="settings-part">
      <h2>API keys</h2>
      <p class="quiet">
        Programs use them to get tokens for the management API. Packets and reports carry an application key
        instead.
      </p>
      <ListTable
        stacked
        list={list}
        caption="API keys"
        rowKey={({ clientId }) => clientId}
        empty="There is none."
        columns={[
          { key: 'name', title: 'Name', cell: ({ name }) => name },
          { key: 'clientId', title: 'Client id', cell: ({ clientId }) => <code>{clientId}</code> },
          { key: 'role', title: 'Role', cell: ({ role }) => role },
          { key: 'createdAt', title: 'Created', cell: ({ createdAt }) => format.time(createdAt) },
          ...actionsColumn(({ clientId, name }: ApiKey) => (
            <ConfirmButton
              label="Delete"
              title={`Delete the API key ${name}`}
              action="Delete the API key"
              done={`The API key ${name} is deleted`}
              onConfirm={async () => {
                await call('DELETE', path(clientId));
                await list.reload();
              }}
            >
              <p>
                The tokens that were issued to it are refused from now on. Programs that use it stop working.
              </p>
            </ConfirmButton>
          )),
        ]}
      />
      <p class="actions">
        <button type="button" onClick={() => dialog.open(<NewApiKey path={path()} onClose={close} />)}>
          Create an API key …
        </button>
      </p>
      {dialog.element}
    </section>
  );
}

function NewApiKey({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const made = useSignal<MadeApiKey | undefined>(undefined);
  if (made.value !== undefined) {
    const { name, clientId, clientSecret } = made.value;
    const values = [
      ['Client id', clientId],
      ['Client secret', clientSecret],
    ] as const;
    return (
      <Secret title={`Copy the secret of ${name} now`} values={values} onDone={onClose}>
        <p class="warn">
          This is the only time that the secret is shown. Store it where your programs keep their secrets.
        </p>
        <p>
          Get a token at <code>{settings.authUrl}/connect/token</code> with the grant{' '}
          <code>client_credentials</code>.
        </p>
      </Secret>
    );
  }
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <Form
        submit="Create the API key"
        done="The API key is created"
        codes={{ plan_limit: 'name' }}
        onCancel={onClose}
        onSubmit={async (data) => {
          made.value = await call<MadeApiKey>('POST', path, { body: Object.fromEntries(data) });
        }}
      >
        <Field
          name="name"
          label="Name"
          required
          autoFocus
          hint="What it is for, such as the name of a program."
        />
        <RoleField />
      </Form>
    </Dialog>
  );
}
