import { signInClientColumns } from '../../../contract/resources/columns.ts';
import type { SignInClient, SignInClientShownOnce } from '../../../contract/shapes/sign-in-client.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import type { Shown } from '../../parts/form/create.tsx';
import { Field, linesOf, SelectField } from '../../parts/form/form.tsx';
import { Part } from '../../parts/resource/part.tsx';
import { ResourceTable } from '../../parts/resource/resource-table.tsx';
import { columnsOf } from '../../parts/table/declared-columns.ts';

/** The sign-in clients of a team. */
export function Clients({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'clients');
  return (
    <Part
      title="Sign-in clients"
      help="oauth#signing-in"
      note="Programs that members of this team sign in to with their own account."
    >
      <ResourceTable
        caption="Sign-in clients"
        list={useList<SignInClient>(path)}
        rowKey={({ clientId }) => clientId}
        columns={columns}
        create={{
          label: 'Create a sign-in client',
          codes: { plan_limit: 'name' },
          create: async (data) => {
            const { name, type } = Object.fromEntries(data);
            const body = { name, type, redirectUris: linesOf(data, 'redirectUris') };
            return shown(await call<SignInClientShownOnce>('POST', path, { body }));
          },
          children: signInFields,
        }}
        remove={({ clientId, name }) => ({
          title: `Delete the sign-in client ${name}`,
          action: 'Delete the sign-in client',
          done: `${name} is deleted`,
          onConfirm: () => call('DELETE', `${path}/${clientId}`),
          children: <p>Its tokens are refused from now on.</p>,
        })}
      />
    </Part>
  );
}

const columns = columnsOf<SignInClient>(signInClientColumns, {
  name: true,
  clientId: ({ clientId }) => <code>{clientId}</code>,
  type: true,
  redirectUris: ({ redirectUris }) => <code>{redirectUris.join(' ')}</code>,
});

const signInFields = (
  <>
    <Field name="name" label="Name" required autoFocus hint="Shown to members when they sign in." />
    <SelectField
      name="type"
      label="Type"
      hint="Confidential clients run on your servers, and can keep a secret."
      options={[['public'], ['confidential']]}
    />
    <Field
      name="redirectUris"
      label="Redirect URIs, one a line"
      hint="Addresses that members return to. They must match exactly."
      control={(properties) => (
        <textarea {...properties} rows={3} required placeholder="https://app.example/callback" />
      )}
    />
  </>
);

function shown({ name, clientId, clientSecret }: SignInClientShownOnce): Shown {
  const id = ['Client id', clientId] as const;
  if (clientSecret === undefined) return { title: `${name} is registered`, once: false, values: [id] };
  const values = [id, ['Client secret', clientSecret] as const];
  return { title: `Copy the secret of ${name} now`, once: true, values };
}
