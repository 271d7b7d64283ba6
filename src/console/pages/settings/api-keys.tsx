import { useSignal } from '@preact/signals';
import { keyScopes, scopePermissions } from '../../../contract/key-scopes.ts';
import { apiKeyColumns, signInClientColumns } from '../../../contract/resources/columns.ts';
import type { ApiKey, ApiKeyShownOnce } from '../../../contract/shapes/api-key.ts';
import type { Application } from '../../../contract/shapes/application.ts';
import type { SignInClient, SignInClientShownOnce } from '../../../contract/shapes/sign-in-client.ts';
import { call, resource } from '../../api/client.ts';
import { currentTime } from '../../api/clock.ts';
import { useList } from '../../api/list.ts';
import { settings } from '../../api/settings.ts';
import { ConfirmButton } from '../../components/form/confirm.tsx';
import { EndingSecret, Secret, type SecretContent } from '../../components/form/create.tsx';
import { Choices, Field, readLines, SelectField } from '../../components/form/form.tsx';
import { Section } from '../../components/resource/part.tsx';
import { type Removal, ResourceTable } from '../../components/resource/resource-table.tsx';
import { createDeclaredColumns } from '../../components/table/declared-columns.ts';
import { format } from '../../text/format.ts';

export function ApiKeys({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'api-keys');
  const list = useList<ApiKey>(path);
  const all = useList<Application>(resource('applications'), { limit: 200 }).items ?? [];
  const applications = all.filter(({ teamId }) => teamId === team);
  const rotated = useSignal<SecretContent | undefined>(undefined);
  const findApplicationName = (id: string) => applications.find((each) => each.id === id)?.name ?? id;
  return (
    <Section
      title="API keys"
      help="oauth#api-keys"
      note="Programs use API keys to get tokens for the management API. Packets contain an application key instead."
    >
      <ResourceTable
        caption="API keys"
        list={list}
        rowKey={({ clientId }) => clientId}
        columns={createDeclaredColumns<ApiKey>(apiKeyColumns, {
          name: true,
          clientId: ({ clientId }) => <code>{clientId}</code>,
          scopes: ({ scopes, applications: bound }) =>
            bound === null ? scopes.join(', ') : `${scopes.join(', ')} in ${bound.map(findApplicationName).join(', ')}`,
          expiresAt,
          warnings: false,
        })}
        actions={(apiKey) =>
          apiKey.credential === 'secret' && <RotateButton path={path} apiKey={apiKey} shown={rotated} />
        }
        create={{
          label: 'Create API key',
          codes: { plan_limit: 'name' },
          create: async (data) => shown(await call<ApiKeyShownOnce>('POST', path, { body: apiKeyFields(data) })),
          children: <ApiKeyFields applications={applications} />,
        }}
        remove={(client) => describeRemoval(path, 'API key', client)}
      />
      {rotated.value !== undefined && <Secret {...rotated.value} onDone={() => (rotated.value = undefined)} />}
    </Section>
  );
}

function describeRemoval(path: string, what: string, { clientId, name }: { clientId: string; name: string }): Removal {
  return {
    title: `Delete ${what} ${name}`,
    action: `Delete ${what}`,
    done: `Deleted ${name}`,
    onConfirm: () => call('DELETE', `${path}/${clientId}`),
    children: <p>Its tokens are refused from now on.</p>,
  };
}

/** Shows the expiry time. In the last two weeks before it, a warning is added. */
function expiresAt({ expiresAt, warnings: [warning] }: ApiKey) {
  if (expiresAt === null) return 'never';
  if (warning === undefined) return format.time(expiresAt);
  return (
    <span class="warn" title={warning.message}>
      {format.time(expiresAt)} ({warning.code})
    </span>
  );
}

interface RotateButtonProps {
  readonly path: string;
  readonly apiKey: ApiKey;
  readonly shown: { value: SecretContent | undefined };
}

function RotateButton({ path, apiKey: { clientId, name, previousSecretUntil }, shown: rotated }: RotateButtonProps) {
  return (
    <ConfirmButton
      label="Rotate"
      title={`Rotate secret of ${name}`}
      action="Rotate secret"
      done={`Rotated secret of ${name}`}
      onConfirm={async () => {
        rotated.value = shown(await call<ApiKeyShownOnce>('POST', `${path}/${clientId}/secret`));
      }}
    >
      <p>The current secret is accepted for another 24 hours.</p>
      <EndingSecret until={previousSecretUntil} />
    </ConfirmButton>
  );
}

function shown({ name, clientId, clientSecret, credential }: ApiKeyShownOnce): SecretContent {
  const id = ['Client id', clientId] as const;
  const url = `${settings.authUrl}/connect/token`;
  if (clientSecret === undefined) {
    const how = credential === 'trust' ? 'token exchange' : 'private_key_jwt';
    return { title: `Created ${name}`, once: false, values: [id], note: `Get a token from ${url} by ${how}.` };
  }
  return {
    title: `Copy secret of ${name} now`,
    once: true,
    values: [id, ['Client secret', clientSecret]],
    note: `Get a token from ${url} with the grant client_credentials.`,
  };
}

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

function ApiKeyFields({ applications }: ApiKeyFieldsProps) {
  const credential = useSignal<Credential>('secret');
  return (
    <>
      <Field name="name" label="Name" required autoFocus hint="Name of the program." />
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

export function Clients({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'clients');
  return (
    <Section
      title="Sign-in clients"
      help="oauth#sign-in-clients"
      note="Programs that members of this team sign in to with their own account."
    >
      <ResourceTable
        caption="Sign-in clients"
        list={useList<SignInClient>(path)}
        rowKey={({ clientId }) => clientId}
        columns={clientColumns}
        create={{
          label: 'Create sign-in client',
          codes: { plan_limit: 'name' },
          create: async (data) => {
            const { name, type } = Object.fromEntries(data);
            const body = { name, type, redirectUris: readLines(data, 'redirectUris') };
            return shownClient(await call<SignInClientShownOnce>('POST', path, { body }));
          },
          children: signInFields,
        }}
        remove={(client) => describeRemoval(path, 'sign-in client', client)}
      />
    </Section>
  );
}

const clientColumns = createDeclaredColumns<SignInClient>(signInClientColumns, {
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
      rows={3}
      required
      placeholder="https://app.example/callback"
    />
  </>
);

function shownClient({ name, clientId, clientSecret }: SignInClientShownOnce): SecretContent {
  const id = ['Client id', clientId] as const;
  if (clientSecret === undefined) return { title: `Registered ${name}`, once: false, values: [id] };
  const values = [id, ['Client secret', clientSecret] as const];
  return { title: `Copy secret of ${name} now`, once: true, values };
}
