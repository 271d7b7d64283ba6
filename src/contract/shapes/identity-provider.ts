import Type, { type Static } from 'typebox';
import {
  bodyShape,
  boolean,
  exampleIds,
  exampleTime,
  getExample,
  list,
  name,
  oneOf,
  optional,
  orNull,
  shape,
  text,
  time,
} from './fields.ts';
import { createFields, newName, option } from './option.ts';
import { role } from './user.ts';

const ClaimRule = Type.Object(
  {
    claim: text('Claim of the ID token or of the UserInfo endpoint, such as `groups`.'),
    value: text('Required value of the claim. If the claim is a list, the list must contain the value.'),
    team: text('Id of the team.'),
    role,
  },
  { additionalProperties: false },
);

const settings = {
  name: name('Name of the provider, which the sign-in button shows.'),
  issuer: text(
    'Issuer, exactly as in its discovery document. The URL must be `https:` with a public host, unless the operator allows other hosts.',
  ),
  clientId: text('Client id that the provider has assigned to this service.'),
  scopes: Type.Array(Type.String(), {
    description: 'Requested scopes; `openid` is required.',
    documented: { minItems: 1, maxItems: 20 },
  }),
  linkByEmail: boolean(
    'True if the first sign-in of an account with a verified e-mail address links the account to the user with that address. Allow this only if the provider verifies addresses.',
  ),
  createUsers: boolean('True if a first sign-in of an unknown person creates a user.'),
  defaultTeam: orNull(
    text(
      'Id of the team that created users join, in addition to the teams that rules grant; `null` for no further team.',
    ),
  ),
  defaultRole: role,
  claimRules: Type.Array(ClaimRule, {
    description:
      'Rules that grant memberships by claims, evaluated at each sign-in. A membership that a rule granted ends when no rule grants that membership.',
    documented: { maxItems: 100 },
  }),
  trustsSecondFactor: boolean('True if a sign-in with the provider counts as two factors.'),
  enabled: boolean('True if users can sign in with the provider.'),
};

const clientSecret = orNull(
  Type.String({
    description: 'Client secret, which is not shown again; `null` for a public client.',
    documented: { format: 'password' },
  }),
);

const fields = {
  id: text('Id of the provider.'),
  ...settings,
  hasClientSecret: boolean('True if the provider has a client secret.'),
  source: oneOf(
    ['api', 'file'],
    'Place of the configuration. A provider from the file `--identity-providers` cannot be changed here.',
  ),
  redirectUri: text('Redirect URI to register at the provider.'),
  postLogoutRedirectUri: text('Post-logout redirect URI to register at the provider.'),
  backchannelLogoutUri: text('Back-channel logout URI to register at the provider.'),
  createdAt: time('Creation time.'),
  updatedAt: time('Time of the last change.'),
};

const exampleId = `provider_${'0'.repeat(23)}9`;
const example = {
  id: exampleId,
  name: 'Example Login',
  issuer: 'https://login.example.com',
  clientId: 'flagmeter',
  scopes: ['openid', 'email', 'profile'],
  linkByEmail: false,
  createUsers: true,
  defaultTeam: exampleIds.team,
  defaultRole: 'User' as const,
  claimRules: [{ claim: 'groups', value: 'flag-admins', team: exampleIds.team, role: 'Admin' as const }],
  trustsSecondFactor: true,
  enabled: true,
  hasClientSecret: true,
  source: 'api' as const,
  redirectUri: `https://auth.example.com/connect/providers/${exampleId}/callback`,
  postLogoutRedirectUri: 'https://auth.example.com/connect/signed-out',
  backchannelLogoutUri: `https://auth.example.com/connect/providers/${exampleId}/logout`,
  createdAt: exampleTime,
  updatedAt: exampleTime,
};

export const IdentityProvider = shape('IdentityProvider', fields, example);
export type IdentityProvider = Static<typeof IdentityProvider>;

const { name: aName, issuer, clientId, ...others } = settings;

export const NewIdentityProvider = bodyShape(
  'NewIdentityProvider',
  { name: aName, issuer, clientId, ...optional({ clientSecret, ...others }) },
  { name: 'Example Login', issuer: 'https://login.example.com', clientId: 'flagmeter', clientSecret: 'secret' },
);
export type NewIdentityProvider = Static<typeof NewIdentityProvider>;

export const IdentityProviderPatch = bodyShape(
  'IdentityProviderPatch',
  optional({ name: aName, issuer, clientId, clientSecret, ...others }),
  { enabled: false },
);
export type IdentityProviderPatch = Static<typeof IdentityProviderPatch>;

const settingOptions = {
  issuer: option('issuer URL', 'Issuer, exactly as in its discovery document'),
  clientId: option('client-id ID', 'Client id that the provider has assigned'),
  clientSecret: option(
    'client-secret-file FILE',
    'File with the client secret on its first line; - is standard input',
    { file: true, as: 'secretFile', more: 'default: a public client' },
  ),
  scopes: option('scope SCOPE', 'Requested scope; repeatable', { more: 'default: openid, email and profile' }),
  linkByEmail: option('link-by-email true|false', 'Link users by verified e-mail address'),
  createUsers: option('create-users true|false', 'Create users at their first sign-in'),
  defaultTeam: option('default-team ID', 'Id of the team of created users; empty for none'),
  defaultRole: option('default-role ROLE', 'Role of created users'),
  claimRules: option('claim-rule-file FILE', 'File with a rule as JSON: claim, value, team (id) and role', {
    file: true,
    as: 'jsonFile',
    more: 'repeatable; replaces all rules',
  }),
  trustsSecondFactor: option('trusts-second-factor true|false', 'Count a sign-in as two factors'),
  enabled: option('enabled true|false', 'Allow users to sign in with the provider'),
} as const;

export const identityProviderOptions = {
  create: createFields(NewIdentityProvider, { name: null, ...settingOptions }),
  update: createFields(IdentityProviderPatch, { name: newName, ...settingOptions }),
};

/** The result of checking the discovery document of a provider. */
export const ProviderCheck = shape(
  'ProviderCheck',
  {
    reason: orNull(
      text(
        'Code of the problem that prevents sign-ins with the provider, such as `provider_unreachable`; `null` if there is no problem.',
      ),
    ),
    detail: orNull(text('The problem, for people.')),
    endpoints: Type.Object({
      authorization: orNull(text('Authorization endpoint.')),
      token: orNull(text('Token endpoint.')),
      userinfo: orNull(text('UserInfo endpoint.')),
      endSession: orNull(text('End-session endpoint.')),
    }),
    keys: Type.Integer({ minimum: 0, description: 'Number of signing keys that can be used.' }),
    backchannelLogout: boolean('True if the provider supports back-channel logout.'),
  },
  {
    reason: null,
    detail: null,
    endpoints: {
      authorization: 'https://login.example.com/authorize',
      token: 'https://login.example.com/token',
      userinfo: 'https://login.example.com/userinfo',
      endSession: 'https://login.example.com/logout',
    },
    keys: 2,
    backchannelLogout: true,
  },
);
export type ProviderCheck = Static<typeof ProviderCheck>;

export const LinkedIdentity = shape(
  'LinkedIdentity',
  {
    id: text('Id.'),
    provider: text('Name of the identity provider, or its issuer if the provider was deleted.'),
    issuer: text('Issuer of the account.'),
    email: orNull(text('E-mail address of the account at the last sign-in.')),
    linkedAt: time('Time of the first sign-in.'),
    lastUsedAt: time('Time of the last sign-in.'),
  },
  {
    id: `identity_${'0'.repeat(23)}a`,
    provider: 'Example Login',
    issuer: 'https://login.example.com',
    email: 'ada@shop.example',
    linkedAt: exampleTime,
    lastUsedAt: exampleTime,
  },
);
export type LinkedIdentity = Static<typeof LinkedIdentity>;

export const LinkedIdentities = Type.Object(
  {
    items: list(LinkedIdentity),
    linkable: boolean('True if the user can link another account, at `/connect/identities` of the auth host.'),
  },
  { example: { items: [getExample(LinkedIdentity)], linkable: false } },
);
export type LinkedIdentities = Static<typeof LinkedIdentities>;
