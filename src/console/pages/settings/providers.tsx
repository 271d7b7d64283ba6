import { useSignal } from '@preact/signals';
import { identityProviderColumns } from '../../../contract/resources/columns.ts';
import { roles } from '../../../contract/roles.ts';
import type { IdentityProvider, ProviderCheck } from '../../../contract/shapes/identity-provider.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import { call, resource } from '../../api/client.ts';
import { type List, useList } from '../../api/list.ts';
import { useAction } from '../../components/action.tsx';
import { CloseButton, Dialog, useDialog } from '../../components/dialog.tsx';
import { withChosen } from '../../components/form/filters.tsx';
import { Choices, Field, Form, SelectField } from '../../components/form/form.tsx';
import { Rows, readRows } from '../../components/form/rows.tsx';
import { Section } from '../../components/resource/part.tsx';
import { ResourceTable } from '../../components/resource/resource-table.tsx';
import { createDeclaredColumns } from '../../components/table/declared-columns.ts';

export function Providers({ list }: { readonly list: List<IdentityProvider> }) {
  const dialog = useDialog();
  const close = () => {
    dialog.close();
    void list.reload();
  };
  return (
    <Section
      title="Identity providers"
      help="single-sign-on#set-up-a-provider"
      note="Services that users sign in with (OpenID Connect)."
    >
      <ResourceTable
        list={list}
        caption="Identity providers"
        rowKey={({ id }) => id}
        columns={createDeclaredColumns<IdentityProvider>(identityProviderColumns, {
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
              <>
                <button
                  type="button"
                  aria-label={`Change ${provider.name}`}
                  onClick={() => dialog.open(<ProviderDialog provider={provider} onClose={close} />)}
                >
                  Change …
                </button>
                <Toggle provider={provider} onDone={list.reload} />
              </>
            )}
          </>
        )}
        remove={removal}
        create={{
          label: 'Add identity provider',
          codes: providerCodes,
          create: async (data) => {
            await call('POST', resource('identity-providers'), { body: providerFields(data, true) });
            return undefined;
          },
          children: <ProviderFields />,
        }}
      />
      {dialog.element}
    </Section>
  );
}

/** Returns the confirmation for deleting a provider; `undefined` for a provider that the operator has configured. */
function removal({ id, name, source }: IdentityProvider) {
  if (source === 'file') return undefined;
  return {
    title: `Delete identity provider ${name}`,
    action: 'Delete identity provider',
    done: `Deleted identity provider ${name}`,
    children: <p>Users can no longer sign in with it. Existing sessions continue.</p>,
    onConfirm: () => call<void>('DELETE', resource('identity-providers', id)),
  };
}

interface ToggleProps {
  readonly provider: IdentityProvider;
  readonly onDone: () => void;
}

function Toggle({ provider: { id, name, enabled }, onDone }: ToggleProps) {
  const { busy, refusal, run } = useAction();
  const word = enabled ? 'Disable' : 'Enable';
  const toggle = async () => {
    await call('PATCH', resource('identity-providers', id), { body: { enabled: !enabled } });
    onDone();
  };
  return (
    <>
      <button
        type="button"
        aria-label={`${word} ${name}`}
        disabled={busy}
        onClick={() => run(toggle, `${enabled ? 'Disabled' : 'Enabled'} ${name}`)}
      >
        {word}
      </button>
      {refusal}
    </>
  );
}

interface ProviderDialogProps {
  readonly provider: IdentityProvider;
  readonly onClose: () => void;
}

function ProviderDialog({ provider, onClose }: ProviderDialogProps) {
  return (
    <Dialog title={`Change ${provider.name}`} onClose={onClose}>
      <Form
        submit="Save"
        done="Identity provider changed"
        codes={providerCodes}
        onCancel={onClose}
        onSubmit={async (data) => {
          const body = providerFields(data, false);
          await call('PATCH', resource('identity-providers', provider.id), { body });
          onClose();
        }}
      >
        <ProviderFields of={provider} />
      </Form>
    </Dialog>
  );
}

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
      <button type="button" aria-label={`Test connection to ${name}`} onClick={() => void test()}>
        Test …
      </button>
      {isOpen.value && (
        <Dialog title={`Connection to ${name}`} onClose={() => (isOpen.value = false)}>
          <p aria-live="polite">{failed.value || describeCheck(shown.value)}</p>
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
          <CloseButton onClose={() => (isOpen.value = false)} />
        </Dialog>
      )}
    </>
  );
}

function describeCheck(check: ProviderCheck | undefined): string {
  if (check === undefined) return 'Testing …';
  if (check.reason !== null) return `${check.detail} (${check.reason})`;
  const logout = check.backchannelLogout
    ? 'It supports back-channel logout.'
    : 'It does not support back-channel logout.';
  return `The provider responds, and has ${check.keys} ${check.keys === 1 ? 'key' : 'keys'}. ${logout}`;
}

const providerCodes = { invalid_name: 'name' };

/** The form fields of a provider. @param props `of`: the provider to change; absent for a new provider */
function ProviderFields({ of: provider }: { readonly of?: IdentityProvider }) {
  const secret = 'The secret is not shown again.';
  return (
    <>
      <Field
        name="name"
        label="Name"
        required
        autoFocus
        hint="Shown on the button of the sign-in page."
        value={provider?.name}
      />
      <Field
        name="issuer"
        label="Issuer"
        type="url"
        required
        placeholder="https://login.example.com"
        hint="Exactly as in the discovery document of the provider."
        value={provider?.issuer}
      />
      <Field name="clientId" label="Client id" required autocomplete="off" value={provider?.clientId} />
      <Field
        name="clientSecret"
        label="Client secret"
        type="password"
        autocomplete="off"
        hint={`${secret} ${provider?.hasClientSecret ? 'An empty field keeps the stored secret.' : 'Leave it empty for a public client.'}`}
      />
      <Field
        name="scopes"
        label="Scopes"
        required
        hint="Separated by spaces. Many providers send groups only for a scope of their own."
        value={(provider?.scopes ?? ['openid', 'email', 'profile']).join(' ')}
      />
      <Choices
        legend="Rules"
        type="checkbox"
        name="flags"
        choices={switches}
        checked={(name) => provider?.[name as SwitchName] ?? name === 'trustsSecondFactor'}
      />
      <Memberships of={provider} />
    </>
  );
}

const switches = [
  [
    'createUsers',
    'Create users',
    'The first sign-in creates a user in the default team and in the teams that the rules below assign.',
  ],
  [
    'linkByEmail',
    'Link by e-mail address',
    'A first sign-in with a verified address is linked to its user. Only for providers that verify addresses.',
  ],
  ['trustsSecondFactor', 'Counts as two factors', 'If off, a policy can demand a second factor here.'],
] as const;

type SwitchName = (typeof switches)[number][0];

function Memberships({ of: provider }: { readonly of: IdentityProvider | undefined }) {
  const { items } = useList<Team>(resource('teams'), { limit: 200 });
  if (items === undefined) return null;
  const teams = items.map(({ id, name }) => [id, name] as const);
  const roleOptions = roles.map((role) => [role] as const);
  const { defaultTeam, defaultRole = 'User', claimRules = [] } = provider ?? {};
  return (
    <>
      <SelectField
        name="defaultTeam"
        label="Default team of created users"
        options={[['', 'None'], ...withChosen(teams, defaultTeam ? [defaultTeam] : [])]}
        value={defaultTeam ?? ''}
      />
      <SelectField name="defaultRole" label="Role in the default team" options={roleOptions} value={defaultRole} />
      <Rows
        name="claimRules"
        legend="Rules for claims"
        hint="A user has the role in the team if the claim equals or contains the value. Evaluated at each sign-in."
        noun="rule"
        rows={claimRules}
        columns={[
          { name: 'claim', label: 'Claim', placeholder: 'groups' },
          { name: 'value', label: 'Value', placeholder: 'flag-admins' },
          {
            name: 'team',
            label: 'Team',
            options: withChosen(
              teams,
              claimRules.map(({ team }) => team),
            ),
          },
          { name: 'role', label: 'Role', options: roleOptions },
        ]}
      />
    </>
  );
}

/** Converts the form data to the fields of the API. A change without a new secret omits the secret. */
function providerFields(data: FormData, isNew: boolean): object {
  const text = (name: string) => String(data.get(name) ?? '');
  const chosen = data.getAll('flags');
  const secret = text('clientSecret');
  return {
    name: text('name'),
    issuer: text('issuer'),
    clientId: text('clientId'),
    ...((isNew || secret !== '') && { clientSecret: secret || null }),
    scopes: text('scopes')
      .split(/\s+/)
      .filter((scope) => scope !== ''),
    ...Object.fromEntries(switches.map(([name]) => [name, chosen.includes(name)])),
    // The form lacks these fields until the teams are loaded.
    ...(data.has('defaultTeam') && {
      defaultTeam: text('defaultTeam') || null,
      defaultRole: text('defaultRole'),
      claimRules: readRows(data, 'claimRules', ['claim', 'value', 'team', 'role']),
    }),
  };
}
