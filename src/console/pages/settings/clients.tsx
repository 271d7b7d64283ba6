import { signInClientColumns } from '../../../contract/resources/columns.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import type { Shown } from '../../parts/create.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { Field } from '../../parts/form.tsx';
import { clientId, clientTable } from './client-table.tsx';
import { linesOf } from './lines.ts';
import { ResourceTable } from './resource-table.tsx';
import type { NewSignInClient, SignInClient } from './shapes.ts';

/** The programs that the members of a team sign in to. */
export function Clients({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'clients');
  return (
    <section class="settings-part">
      <h2>Sign-in clients</h2>
      <p class="quiet">Programs that members of this team sign in to with their own account.</p>
      <ResourceTable
        {...clientTable('sign-in client', path, columns)}
        list={useList<SignInClient>(path)}
        create={{
          label: 'Create a sign-in client',
          codes: { plan_limit: 'name' },
          create: async (data) => {
            const { name, type } = Object.fromEntries(data);
            const body = { name, type, redirectUris: linesOf(data, 'redirectUris') };
            return shown(await call<NewSignInClient>('POST', path, { body }));
          },
          children: fields,
        }}
      />
    </section>
  );
}

const columns = columnsOf<SignInClient>(signInClientColumns, {
  name: true,
  clientId,
  type: true,
  redirectUris: ({ redirectUris }) => <code>{redirectUris.join(' ')}</code>,
});

const fields = (
  <>
    <Field name="name" label="Name" required autoFocus hint="Members see it when they sign in." />
    <Field
      name="type"
      label="Type"
      hint="Only a program on your servers can keep a secret, and is confidential."
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
      hint="Where members come back to. They are compared letter by letter."
      control={(properties) => (
        <textarea {...properties} rows={3} required placeholder="https://app.example/callback" />
      )}
    />
  </>
);

function shown({ name, clientId, clientSecret }: NewSignInClient): Shown {
  const id = ['Client id', clientId] as const;
  if (clientSecret === undefined) return { title: `${name} is registered`, once: false, values: [id] };
  const values = [id, ['Client secret', clientSecret] as const];
  return { title: `Copy the secret of ${name} now`, once: true, values };
}
