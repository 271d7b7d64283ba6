import { apiKeyColumns, signInClientColumns } from '../../../contract/resources/columns.ts';
import type { ApiKey, ApiKeyShownOnce } from '../../../contract/shapes/api-key.ts';
import type { SignInClient, SignInClientShownOnce } from '../../../contract/shapes/sign-in-client.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import type { Shown } from '../../parts/create.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { Field, SelectField } from '../../parts/form.tsx';
import type { Column } from '../../parts/table.tsx';
import { settings } from '../../settings.ts';
import { linesOf, Part, RoleField } from './part.tsx';
import { ResourceTable, type ResourceTableProps } from './resource-table.tsx';

/** The API keys of a team. */
export function ApiKeys({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'api-keys');
  const note = `Get a token from ${settings.authUrl}/connect/token with the grant client_credentials.`;
  return (
    <Part
      title="API keys"
      note="Programs use them to get tokens for the management API. Packets contain an application key instead."
    >
      <ClientTable<ApiKey>
        kind="API key"
        path={path}
        columns={apiColumns}
        create={{
          label: 'Create an API key',
          codes: { plan_limit: 'name' },
          create: async (data) => {
            const body = Object.fromEntries(data);
            return { ...shown(await call<ApiKeyShownOnce>('POST', path, { body })), note };
          },
          children: (
            <>
              <Field name="name" label="Name" required autoFocus hint="Name of the program." />
              <RoleField />
            </>
          ),
        }}
      />
    </Part>
  );
}

/** The sign-in clients of a team. */
export function Clients({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'clients');
  return (
    <Part
      title="Sign-in clients"
      note="Programs that members of this team sign in to with their own account."
    >
      <ClientTable<SignInClient>
        kind="sign-in client"
        path={path}
        columns={signInColumns}
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
      />
    </Part>
  );
}

type Client = ApiKey | SignInClient;

const clientId = ({ clientId }: Client) => <code>{clientId}</code>;

const apiColumns = columnsOf<ApiKey>(apiKeyColumns, { name: true, clientId });
const signInColumns = columnsOf<SignInClient>(signInClientColumns, {
  name: true,
  clientId,
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

interface ClientTableProps<Row> extends Required<Pick<ResourceTableProps<Row>, 'create'>> {
  /** What a row is: "API key". */
  readonly kind: string;
  readonly path: string;
  readonly columns: readonly Column<Row>[];
}

function ClientTable<Row extends Client>({ kind, path, columns, create }: ClientTableProps<Row>) {
  return (
    <ResourceTable
      caption={`${kind}s`}
      list={useList<Row>(path)}
      rowKey={({ clientId }) => clientId}
      columns={columns}
      create={create}
      remove={({ clientId, name }) => ({
        title: `Delete the ${kind} ${name}`,
        action: `Delete the ${kind}`,
        done: `${name} is deleted`,
        onConfirm: () => call('DELETE', `${path}/${clientId}`),
        children: <p>Its tokens are refused from now on.</p>,
      })}
    />
  );
}

function shown({ name, clientId, clientSecret }: ApiKeyShownOnce | SignInClientShownOnce): Shown {
  const id = ['Client id', clientId] as const;
  if (clientSecret === undefined) return { title: `${name} is registered`, once: false, values: [id] };
  const values = [id, ['Client secret', clientSecret] as const];
  return { title: `Copy the secret of ${name} now`, once: true, values };
}
