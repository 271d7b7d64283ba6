import { useSignal } from '@preact/signals';
import { keyScopes, scopePermissions } from '../../../contract/key-scopes.ts';
import type { ApiKey, ApiKeyShownOnce } from '../../../contract/shapes/api-key.ts';
import type { Application } from '../../../contract/shapes/application.ts';
import type { SignInClient, SignInClientShownOnce } from '../../../contract/shapes/sign-in-client.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import { call, resource } from '../../api/client.ts';
import { currentTime } from '../../api/clock.ts';
import { useList } from '../../api/list.ts';
import { settings } from '../../api/settings.ts';
import { CopyButton } from '../../components/copy.tsx';
import { ConfirmButton } from '../../components/form/confirm.tsx';
import { EndingSecret, Secret, type SecretContent } from '../../components/form/create.tsx';
import { Choices, Field, readLines, SelectField } from '../../components/form/form.tsx';
import { Section } from '../../components/resource/part.tsx';
import { ResourceTable } from '../../components/resource/resource-table.tsx';
import { agoColumn } from '../../components/table/columns.tsx';
import type { Column } from '../../components/table/table.tsx';
import { format } from '../../text/format.ts';

/** Access of a program: an API key, or a sign-in client. A sign-in client never expires, and its use is not recorded. */
interface Access extends Pick<ApiKey, 'clientId' | 'name' | 'createdAt' | 'lastUsedAt' | 'expiresAt' | 'warnings'> {
  readonly kind: 'API key' | 'sign-in client';
  readonly path: string;
  /** Permissions of the program, as text. */
  readonly allows: string;
  readonly credential?: ApiKey['credential'];
  readonly previousSecretUntil?: string | null;
}

export function ProgramAccess({ team: { id, name } }: { readonly team: Team }) {
  const all = useList<Application>(resource('applications'), { limit: 200 }).items ?? [];
  const applications = all.filter(({ teamId }) => teamId === id);
  const list = useAccess(id, applications);
  const rotated = useSignal<SecretContent | undefined>(undefined);
  return (
    <Section
      title="Access of programs"
      help="oauth#api-keys"
      note="A program calls the API with an API key, and members sign in to a program through a sign-in client. Messages contain an application key instead."
    >
      <ResourceTable
        caption="Access of programs"
        csv={`access-${name}`}
        list={list}
        rowKey={({ clientId }) => clientId}
        columns={columns}
        actions={(access) => access.credential === 'secret' && <RotateButton of={access} shown={rotated} />}
        create={{
          label: 'Create access',
          codes: { plan_limit: 'name' },
          create: (data) => createAccess(id, data),
          children: <AccessFields applications={applications} />,
        }}
        remove={({ path, name }) => ({
          title: `Delete access of ${name}`,
          action: 'Delete access',
          done: `Deleted access of ${name}`,
          onConfirm: () => call('DELETE', path),
          children: <p>Its tokens are refused from now on.</p>,
        })}
      />
      {rotated.value !== undefined && <Secret {...rotated.value} onDone={() => (rotated.value = undefined)} />}
    </Section>
  );
}

/** Reads the API keys and the sign-in clients of a team as one list. Each of the two lists fits in one page. */
function useAccess(team: string, applications: ApiKeyFieldsProps['applications']) {
  const paths = { keys: resource('teams', team, 'api-keys'), clients: resource('teams', team, 'clients') };
  const keys = useList<ApiKey>(paths.keys, { limit: 200 });
  const clients = useList<SignInClient>(paths.clients, { limit: 200 });
  const findName = (id: string) => applications.find((each) => each.id === id)?.name ?? id;
  const ofKeys = keys.items?.map((apiKey): Access => {
    const { clientId, scopes, applications: bound } = apiKey;
    const place = bound === null ? '' : ` in ${bound.map(findName).join(', ')}`;
    const allows = `${scopes.join(', ')}${place}`;
    return { ...apiKey, kind: 'API key', path: `${paths.keys}/${clientId}`, allows };
  });
  const ofClients = clients.items?.map(({ clientId, name, createdAt, type, redirectUris }): Access => {
    const allows = `sign-in (${type}): ${redirectUris.join(' ')}`;
    const own = { clientId, name, createdAt, lastUsedAt: null, expiresAt: null, warnings: [] };
    return { ...own, kind: 'sign-in client', path: `${paths.clients}/${clientId}`, allows };
  });
  return {
    items: ofKeys && ofClients && [...ofKeys, ...ofClients],
    error: keys.error ?? clients.error,
    async reload() {
      await Promise.all([keys.reload(), clients.reload()]);
    },
  };
}

const columns: readonly Column<Access>[] = [
  { key: 'name', title: 'Name', value: ({ name }) => name },
  { key: 'kind', title: 'Kind', value: ({ kind }) => kind },
  { key: 'allows', title: 'Allows', class: 'settings-wrap', value: ({ allows }) => allows },
  {
    key: 'createdAt',
    title: 'Created',
    value: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => format.date(createdAt),
  },
  agoColumn('lastUsedAt', 'Last used'),
  { key: 'expiresAt', title: 'Expires', value: ({ expiresAt }) => expiresAt ?? '', cell: renderExpiry },
  {
    key: 'clientId',
    title: 'Client id',
    csv: ({ clientId }) => clientId,
    cell: ({ clientId, name }) => (
      <span>
        <code title={clientId}>{clientId.slice(0, 11)}…</code>{' '}
        <CopyButton text={clientId} title={`Copy client id of ${name}`} />
      </span>
    ),
  },
];

/** Shows the expiry date. In the last two weeks before it, a warning is added. */
function renderExpiry({ expiresAt, warnings: [warning] }: Access) {
  if (expiresAt === null) return 'never';
  if (warning === undefined) return format.date(expiresAt);
  return (
    <span class="warn" title={warning.message}>
      {format.date(expiresAt)} ({warning.code})
    </span>
  );
}

interface RotateButtonProps {
  readonly of: Access;
  readonly shown: { value: SecretContent | undefined };
}

function RotateButton({ of: { path, name, previousSecretUntil }, shown: rotated }: RotateButtonProps) {
  return (
    <ConfirmButton
      label="Rotate"
      title={`Rotate secret of ${name}`}
      action="Rotate secret"
      done={`Rotated secret of ${name}`}
      onConfirm={async () => {
        rotated.value = shown(await call<ApiKeyShownOnce>('POST', `${path}/secret`));
      }}
    >
      <p>The current secret is accepted for another 24 hours.</p>
      <EndingSecret until={previousSecretUntil} />
    </ConfirmButton>
  );
}

async function createAccess(team: string, data: FormData): Promise<SecretContent> {
  const isClient = data.get('kind') === 'client';
  const path = resource('teams', team, isClient ? 'clients' : 'api-keys');
  return shown(await call('POST', path, { body: isClient ? clientFields(data) : apiKeyFields(data) }));
}

/** Returns the content of the dialog for a new API key or sign-in client. The secret is shown only once. */
function shown(created: ApiKeyShownOnce | SignInClientShownOnce): SecretContent {
  const { name, clientId, clientSecret } = created;
  const id = ['Client id', clientId] as const;
  const note =
    'credential' in created && `Get a token from ${settings.authUrl}/connect/token by ${grants[created.credential]}.`;
  if (clientSecret === undefined) return { title: `Created ${name}`, once: false, values: [id], note };
  const values = [id, ['Client secret', clientSecret] as const];
  return { title: `Copy secret of ${name} now`, once: true, values, note };
}

const grants = {
  secret: 'the grant client_credentials',
  'public-keys': 'private_key_jwt',
  trust: 'token exchange',
} as const;

const dayMs = 24 * 3_600_000;

const lifetimes = [
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['', 'Never'],
] as const;

const credentials = [
  ['secret', 'A secret'],
  ['publicKeys', 'A public key (private_key_jwt)'],
  ['trust', 'Platform tokens (GitHub, GitLab, Kubernetes)'],
] as const;

type Credential = (typeof credentials)[number][0];

interface ApiKeyFieldsProps {
  readonly applications: readonly Pick<Application, 'id' | 'name'>[];
}

const kinds = [
  ['api-key', 'API key: calls the API'],
  ['client', 'Sign-in client: signs members in'],
] as const;

function AccessFields(props: ApiKeyFieldsProps) {
  const kind = useSignal<string>('api-key');
  return (
    <>
      <SelectField name="kind" label="Kind" options={kinds} onInput={(value) => (kind.value = value)} />
      <Field name="name" label="Name" required autoFocus hint="Name of the program." />
      {kind.value === 'client' ? signInFields : <ApiKeyFields {...props} />}
    </>
  );
}

function ApiKeyFields({ applications }: ApiKeyFieldsProps) {
  const credential = useSignal<Credential>('secret');
  return (
    <>
      <Choices
        legend="Scopes"
        type="checkbox"
        name="scopes"
        choices={keyScopes.map((scope) => [scope, scope, scopePermissions[scope]])}
        checked={(scope) => scope === 'read'}
      />
      {applications.length > 0 && (
        <Choices
          legend="Only these applications (none: the whole team)"
          type="checkbox"
          name="applications"
          choices={applications.map(({ id, name }) => [id, name, ''])}
          checked={() => false}
        />
      )}
      <SelectField name="expires" label="Expires" options={lifetimes} value="90" />
      <SelectField
        name="credential"
        label="Authenticates by"
        options={credentials}
        onInput={(value) => (credential.value = value as Credential)}
      />
      {credential.value === 'publicKeys' && (
        <Field
          name="publicKeys"
          label="Public key as JWK"
          hint="RSA, EC on P-256 or Ed25519. The program keeps the private key."
          rows={5}
          required
          spellcheck={false}
        />
      )}
      {credential.value === 'trust' && <TrustFields />}
    </>
  );
}

function TrustFields() {
  return (
    <>
      <Field
        name="issuer"
        label="Issuer"
        required
        value="https://token.actions.githubusercontent.com"
        hint="GitLab: the URL of the instance. Kubernetes: the issuer of the cluster."
      />
      <Field name="audience" label="Audience" required value={settings.baseUrl} />
      <Field
        name="subject"
        label="Subject"
        required
        placeholder="repo:shop/checkout:ref:refs/heads/main"
        hint="Colons and slashes separate segments. Each segment after the second can contain one *."
      />
    </>
  );
}

function apiKeyFields(data: FormData): object {
  const text = (name: string) => String(data.get(name) ?? '');
  const applications = data.getAll('applications');
  const days = Number(text('expires'));
  const credential = text('credential');
  return {
    name: text('name'),
    scopes: data.getAll('scopes'),
    ...(applications.length > 0 && { applications }),
    ...(days > 0 && { expiresAt: new Date(currentTime() + days * dayMs).toISOString() }),
    ...(credential === 'publicKeys' && { publicKeys: keysIn(text('publicKeys')) }),
    ...(credential === 'trust' && {
      trust: { issuer: text('issuer'), audience: text('audience'), subject: text('subject') },
    }),
  };
}

/** Parses a key, a list of keys or a key set. The API refuses any other content with a message that names the field. */
function keysIn(text: string): unknown {
  try {
    const json = JSON.parse(text) as { readonly keys?: unknown };
    return json.keys ?? [json].flat();
  } catch {
    return text;
  }
}

function clientFields(data: FormData): object {
  return { name: data.get('name'), type: data.get('type'), redirectUris: readLines(data, 'redirectUris') };
}

const signInFields = (
  <>
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
      rows={3}
      required
      placeholder="https://app.example/callback"
    />
  </>
);
