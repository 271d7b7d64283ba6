import { useSignal } from '@preact/signals';
import { apiKeyColumns } from '../../../contract/resources/columns.ts';
import type { ApiKey, ApiKeyShownOnce } from '../../../contract/shapes/api-key.ts';
import type { Application } from '../../../contract/shapes/application.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { format } from '../../format.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Secret, type Shown } from '../../parts/create.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { settings } from '../../settings.ts';
import { ApiKeyFields, apiKeyFields } from './api-key-fields.tsx';
import { Part } from './part.tsx';
import { ResourceTable } from './resource-table.tsx';

/** The API keys of a team. */
export function ApiKeys({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'api-keys');
  const list = useList<ApiKey>(path);
  const all = useList<Application>(resource('applications'), { limit: 200 }).items ?? [];
  const applications = all.filter(({ teamId }) => teamId === team);
  const rotated = useSignal<Shown | undefined>(undefined);
  const nameOf = (id: string) => applications.find((each) => each.id === id)?.name ?? id;
  return (
    <Part
      title="API keys"
      help="oauth#api-keys"
      note="Programs use them to get tokens for the management API. Packets contain an application key instead."
    >
      <ResourceTable
        caption="API keys"
        list={list}
        rowKey={({ clientId }) => clientId}
        columns={columnsOf<ApiKey>(apiKeyColumns, {
          name: true,
          clientId: ({ clientId }) => <code>{clientId}</code>,
          scopes: ({ scopes, applications: bound }) =>
            bound === null ? scopes.join(', ') : `${scopes.join(', ')} in ${bound.map(nameOf).join(', ')}`,
          expiresAt,
          warnings: false,
        })}
        actions={(apiKey) =>
          apiKey.credential === 'secret' && <RotateButton path={path} apiKey={apiKey} shown={rotated} />
        }
        create={{
          label: 'Create an API key',
          codes: { plan_limit: 'name' },
          create: async (data) =>
            shown(await call<ApiKeyShownOnce>('POST', path, { body: apiKeyFields(data) })),
          children: <ApiKeyFields applications={applications} />,
        }}
        remove={({ clientId, name }) => ({
          title: `Delete the API key ${name}`,
          action: 'Delete the API key',
          done: `${name} is deleted`,
          onConfirm: () => call('DELETE', `${path}/${clientId}`),
          children: <p>Its tokens are refused from now on.</p>,
        })}
      />
      {rotated.value !== undefined && (
        <Secret {...rotated.value} onDone={() => (rotated.value = undefined)} />
      )}
    </Part>
  );
}

/** The expiry, with a warning in the last two weeks and after it. */
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
  readonly shown: { value: Shown | undefined };
}

function RotateButton({ path, apiKey: { clientId, name }, shown: rotated }: RotateButtonProps) {
  return (
    <ConfirmButton
      label="Rotate"
      title={`Rotate the secret of ${name}`}
      action="Rotate the secret"
      done={`The secret of ${name} is rotated`}
      onConfirm={async () => {
        rotated.value = shown(await call<ApiKeyShownOnce>('POST', `${path}/${clientId}/secret`));
      }}
    >
      <p>The previous secret is accepted for 24 hours.</p>
    </ConfirmButton>
  );
}

function shown({ name, clientId, clientSecret, credential }: ApiKeyShownOnce): Shown {
  const id = ['Client id', clientId] as const;
  const url = `${settings.authUrl}/connect/token`;
  if (clientSecret === undefined) {
    const how = credential === 'trust' ? 'token exchange' : 'private_key_jwt';
    return {
      title: `${name} is created`,
      once: false,
      values: [id],
      note: `Get a token from ${url} by ${how}.`,
    };
  }
  return {
    title: `Copy the secret of ${name} now`,
    once: true,
    values: [id, ['Client secret', clientSecret]],
    note: `Get a token from ${url} with the grant client_credentials.`,
  };
}
