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
import { actionsColumn } from './actions-column.tsx';
import { linesOf } from './lines.ts';
import type { NewSignInClient, SignInClient } from './shapes.ts';

/** The programs that the members of a team sign in to. */
export function Clients({ team }: { readonly team: string }) {
  const path = (...rest: string[]) => resource('teams', team, 'clients', ...rest);
  const list = useList<SignInClient>(path());
  const dialog = useDialog();
  const close = () => {
    dialog.close();
    void list.reload();
  };
  return (
    <section class="settings-part">
      <h2>Sign-in clients</h2>
      <p class="quiet">
        Programs that members of this team sign in to with their own account, such as a dashboard or an
        extension.
      </p>
      <ListTable
        stacked
        list={list}
        caption="Sign-in clients"
        rowKey={({ clientId }) => clientId}
        empty="There is none."
        columns={[
          { key: 'name', title: 'Name', cell: ({ name }) => name },
          { key: 'clientId', title: 'Client id', cell: ({ clientId }) => <code>{clientId}</code> },
          { key: 'type', title: 'Type', cell: ({ type }) => type },
          {
            key: 'uris',
            title: 'Redirect URIs',
            cell: ({ redirectUris }) => <code>{redirectUris.join(' ')}</code>,
          },
          { key: 'createdAt', title: 'Created', cell: ({ createdAt }) => format.time(createdAt) },
          ...actionsColumn(({ clientId, name }: SignInClient) => (
            <ConfirmButton
              label="Delete"
              title={`Delete the sign-in client ${name}`}
              action="Delete the sign-in client"
              done={`The sign-in client ${name} is deleted`}
              onConfirm={async () => {
                await call('DELETE', path(clientId));
                await list.reload();
              }}
            >
              <p>Members cannot sign in to it any more, and its tokens are refused from now on.</p>
            </ConfirmButton>
          )),
        ]}
      />
      <p class="actions">
        <button type="button" onClick={() => dialog.open(<NewClient path={path()} onClose={close} />)}>
          Register a sign-in client …
        </button>
      </p>
      {dialog.element}
    </section>
  );
}

function NewClient({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const made = useSignal<NewSignInClient | undefined>(undefined);
  if (made.value !== undefined) return <Registered made={made.value} onDone={onClose} />;
  return (
    <Dialog title="Register a sign-in client" onClose={onClose}>
      <Form
        submit="Register"
        done="The sign-in client is registered"
        codes={{ plan_limit: 'name' }}
        onCancel={onClose}
        onSubmit={async (data) => {
          const { name, type } = Object.fromEntries(data);
          const body = { name, type, redirectUris: linesOf(data, 'redirectUris') };
          made.value = await call<NewSignInClient>('POST', path, { body });
        }}
      >
        <Field name="name" label="Name" required autoFocus hint="Members see it when they sign in." />
        <Field
          name="type"
          label="Type"
          hint="Only a program that runs on your servers can keep a secret, and is confidential."
          control={(properties) => (
            <select {...properties}>
              <option>public</option>
              <option>confidential</option>
            </select>
          )}
        />
        <Field
          name="redirectUris"
          label="Redirect URIs, one a line"
          hint="Where a member lands after signing in. They are compared letter by letter."
          control={(properties) => (
            <textarea {...properties} rows={3} required placeholder="https://app.example/callback" />
          )}
        />
      </Form>
    </Dialog>
  );
}

function Registered({ made, onDone }: { readonly made: NewSignInClient; readonly onDone: () => void }) {
  const { name, clientId, clientSecret } = made;
  if (clientSecret === undefined) {
    return (
      <Secret
        title={`${name} is registered`}
        values={[['Client id', clientId]]}
        confirm="Done"
        onDone={onDone}
      >
        <p>It is public: it has no secret, and its id is in the list at any time.</p>
      </Secret>
    );
  }
  const values = [
    ['Client id', clientId],
    ['Client secret', clientSecret],
  ] as const;
  return (
    <Secret title={`Copy the secret of ${name} now`} values={values} onDone={onDone}>
      <p class="warn">
        This is the only time that the secret is shown. Store it where the program keeps its secrets.
      </p>
    </Secret>
  );
}
