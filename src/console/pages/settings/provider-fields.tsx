import { roles } from '../../../contract/roles.ts';
import type { IdentityProvider } from '../../../contract/shapes/identity-provider.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import { resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { withChosen } from '../../parts/form/filters.tsx';
import { Choices, Field, SelectField } from '../../parts/form/form.tsx';
import { Rows, rowsOf } from '../../parts/form/rows.tsx';

/** Fields by refusal code. */
export const providerCodes = { invalid_name: 'name' };

/** The fields of a provider. @param props `of`: the provider; without it a new one */
export function ProviderFields({ of: provider }: { readonly of?: IdentityProvider }) {
  const secret = 'It is not shown again.';
  return (
    <>
      <Field
        name="name"
        label="Name"
        required
        autoFocus
        hint="Shown on its button on the sign-in page."
        value={provider?.name}
      />
      <Field
        name="issuer"
        label="Issuer"
        type="url"
        required
        placeholder="https://login.example.com"
        hint="Exactly as in its discovery document."
        value={provider?.issuer}
      />
      <Field name="clientId" label="Client id" required autocomplete="off" value={provider?.clientId} />
      <Field
        name="clientSecret"
        label="Client secret"
        type="password"
        autocomplete="off"
        hint={`${secret} ${provider?.hasClientSecret ? 'An empty field keeps the stored one.' : 'Empty for a public client.'}`}
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
        choices={flags}
        checked={(flag) => provider?.[flag as Flag] ?? flag === 'trustsSecondFactor'}
      />
      <Memberships of={provider} />
    </>
  );
}

const flags = [
  [
    'createUsers',
    'Create users',
    'Whoever signs in for the first time becomes a user of the default team and of those of the rules below.',
  ],
  [
    'linkByEmail',
    'Link by e-mail address',
    'A first sign-in with a verified address is linked to its user. Only for providers that verify addresses.',
  ],
  ['trustsSecondFactor', 'Counts as two factors', 'Otherwise, a policy can demand a second factor here.'],
] as const;

type Flag = (typeof flags)[number][0];

/** The teams that the users of a provider are in. */
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
      <SelectField
        name="defaultRole"
        label="Role in the default team"
        options={roleOptions}
        value={defaultRole}
      />
      <Rows
        name="claimRules"
        legend="Rules for claims"
        hint="Users whose claim is the value, or a list with it, have the role in the team while it does. Evaluated at each sign-in."
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

/** The fields as the API takes them. An empty secret is left out of a change. */
export function providerFields(data: FormData, isNew: boolean): object {
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
    ...Object.fromEntries(flags.map(([flag]) => [flag, chosen.includes(flag)])),
    // The teams may not have been loaded yet.
    ...(data.has('defaultTeam') && {
      defaultTeam: text('defaultTeam') || null,
      defaultRole: text('defaultRole'),
      claimRules: rowsOf(data, 'claimRules', ['claim', 'value', 'team', 'role']),
    }),
  };
}
