import { IdentityProviderPatch, NewIdentityProvider } from '../shapes/identity-provider.ts';
import { identityProviderColumns } from './columns.ts';
import { fieldsOf, flag } from './field.ts';
import type { Resource } from './resource.ts';

const issuer = flag('issuer URL', 'Issuer, exactly as in its discovery document');
const clientId = flag('client-id ID', 'Client id that the provider has assigned');
const settings = {
  clientSecret: flag(
    'client-secret-file FILE',
    'File with the client secret on its first line; - is standard input',
    {
      file: true,
      as: 'secretFile',
      more: 'default: a public client',
    },
  ),
  scopes: flag('scope SCOPE', 'Requested scope; repeatable', { more: 'default: openid, email and profile' }),
  linkByEmail: flag('link-by-email true|false', 'Link users by verified e-mail address'),
  createUsers: flag('create-users true|false', 'Create users at their first sign-in'),
  defaultTeam: flag('default-team ID', 'Id of the team of created users; empty for none'),
  defaultRole: flag('default-role ROLE', 'Role of created users'),
  claimRules: flag('claim-rule-file FILE', 'File with a rule as JSON: claim, value, team (id) and role', {
    file: true,
    as: 'jsonFile',
    more: 'repeatable; replaces all rules',
  }),
  trustsSecondFactor: flag('trusts-second-factor true|false', 'Count a sign-in as two factors'),
  enabled: flag('enabled true|false', 'Whether users can sign in with it'),
} as const;

export const identityProviders: Resource = {
  name: 'providers',
  one: 'identity provider',
  many: 'identity providers',
  collection: 'identity-providers',
  key: 'id',
  alias: 'name',
  single: true,
  columns: identityProviderColumns,
  create: {
    operand: { name: 'NAME', description: 'Name, shown on its button' },
    fields: fieldsOf(NewIdentityProvider, { name: null, issuer, clientId, ...settings }),
  },
  update: {
    fields: fieldsOf(IdentityProviderPatch, {
      name: flag('name NAME', 'New name'),
      issuer,
      clientId,
      ...settings,
    }),
  },
  remove: { loses: 'Users can no longer sign in with it' },
  actions: [{ word: 'test', summary: 'Test the connection to an identity provider', path: ['test'] }],
};
