import { useSignal } from '@preact/signals';
import { identityProviderColumns } from '../../../contract/resources/columns.ts';
import type { IdentityProvider, ProviderCheck } from '../../../contract/shapes/identity-provider.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { columnsOf } from '../../parts/declared-columns.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, SelectField } from '../../parts/form.tsx';
import { Part } from './part.tsx';
import { ResourceTable } from './resource-table.tsx';

/** The identity providers of the installation. */
export function Providers() {
  const path = resource('identity-providers');
  const list = useList<IdentityProvider>(path);
  return (
    <Part
      title="Identity providers"
      note="Services that users sign in with (OpenID Connect). Rules for claims are set with the API or the command line."
    >
      <ResourceTable
        list={list}
        caption="Identity providers"
        rowKey={({ id }) => id}
        columns={columnsOf<IdentityProvider>(identityProviderColumns, {
          id: false,
          name: true,
          issuer: true,
          enabled: true,
          source: ({ source }) => (source === 'file' ? 'Configuration' : 'Console or API'),
        })}
        actions={(provider) => (
          <>
            <Check provider={provider} />
            {provider.source === 'api' && (
              <button
                type="button"
                aria-label={`${provider.enabled ? 'Disable' : 'Enable'} ${provider.name}`}
                onClick={async () => {
                  const body = { enabled: !provider.enabled };
                  await call('PATCH', resource('identity-providers', provider.id), { body });
                  await list.reload();
                }}
              >
                {provider.enabled ? 'Disable' : 'Enable'}
              </button>
            )}
          </>
        )}
        remove={({ id, name }) => ({
          title: `Delete the identity provider ${name}`,
          action: 'Delete the identity provider',
          done: `The identity provider ${name} is deleted`,
          children: <p>Users can no longer sign in with it. Those who are signed in stay so.</p>,
          onConfirm: () => call<void>('DELETE', resource('identity-providers', id)),
        })}
        create={{
          label: 'Add an identity provider',
          codes: { invalid_name: 'name', invalid_body: 'issuer' },
          create: async (data) => {
            await call('POST', path, { body: bodyOf(data) });
            return undefined;
          },
          children: <ProviderFields />,
        }}
      />
    </Part>
  );
}

function ProviderFields() {
  const { items: teams = [] } = useList<Team>(resource('teams'), { limit: 200 });
  return (
    <>
      <Field name="name" label="Name" required autoFocus hint="Shown on its button on the sign-in page." />
      <Field
        name="issuer"
        label="Issuer"
        type="url"
        required
        placeholder="https://login.example.com"
        hint="Exactly as in its discovery document."
      />
      <Field name="clientId" label="Client id" required autocomplete="off" />
      <Field
        name="clientSecret"
        label="Client secret"
        type="password"
        autocomplete="off"
        hint="It is not shown again. Empty for a public client."
      />
      <SelectField
        name="users"
        label="Users who sign in for the first time"
        options={[
          ['none', 'Must be linked already'],
          ['link', 'Are linked by verified e-mail address'],
          ['create', 'Are created'],
          ['both', 'Are linked by verified e-mail address, or created'],
        ]}
        value="none"
      />
      <SelectField
        name="defaultTeam"
        label="Team of created users"
        options={[['', 'None'], ...teams.map(({ id, name }) => [id, name] as const)]}
        value=""
      />
    </>
  );
}

function bodyOf(data: FormData) {
  const text = (name: string) => String(data.get(name) ?? '');
  return {
    ...{ name: text('name'), issuer: text('issuer'), clientId: text('clientId') },
    clientSecret: text('clientSecret') || null,
    linkByEmail: ['link', 'both'].includes(text('users')),
    createUsers: ['create', 'both'].includes(text('users')),
    defaultTeam: text('defaultTeam') || null,
  };
}

/** The addresses to register at a provider, and what its discovery document says. */
function Check({ provider }: { readonly provider: IdentityProvider }) {
  const { id, name, redirectUri, postLogoutRedirectUri, backchannelLogoutUri } = provider;
  const shown = useSignal<ProviderCheck | undefined>(undefined);
  const failed = useSignal('');
  const isOpen = useSignal(false);
  const test = async () => {
    isOpen.value = true;
    shown.value = undefined;
    try {
      shown.value = await call<ProviderCheck>('POST', `${resource('identity-providers', id)}/test`);
    } catch (error) {
      failed.value = (error as Error).message;
    }
  };
  const addresses = [
    ['Redirect URI', redirectUri],
    ['Post-logout redirect URI', postLogoutRedirectUri],
    ['Back-channel logout URI', backchannelLogoutUri],
  ] as const;
  return (
    <>
      <button type="button" aria-label={`Test the connection to ${name}`} onClick={() => void test()}>
        Test …
      </button>
      {isOpen.value && (
        <Dialog title={`Connection to ${name}`} onClose={() => (isOpen.value = false)}>
          <p aria-live="polite">{failed.value || resultOf(shown.value)}</p>
          <p class="quiet">Register these addresses at the provider:</p>
          <dl class="settings-addresses">
            {addresses.map(([label, address]) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>
                  <code>{address}</code>
                </dd>
              </div>
            ))}
          </dl>
          <p class="actions">
            <button type="button" onClick={() => (isOpen.value = false)}>
              Close
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}

function resultOf(check: ProviderCheck | undefined): string {
  if (check === undefined) return 'Testing …';
  if (check.reason !== null) return `${check.detail} (${check.reason})`;
  const logout = check.backchannelLogout
    ? 'It supports back-channel logout.'
    : 'It has no back-channel logout.';
  return `The provider answers, and has ${check.keys} ${check.keys === 1 ? 'key' : 'keys'}. ${logout}`;
}
