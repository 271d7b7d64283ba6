import Type, { type Static } from 'typebox';
import { type KeyScope, keyScopes, scopePermissions } from '../key-scopes.ts';
import {
  bodyShape,
  exampleIds,
  exampleTime,
  list,
  name,
  oneOf,
  optional,
  orNull,
  type StoredFields,
  shape,
  Time,
  text,
  time,
} from './fields.ts';
import { createFields, laterForms, newName, option } from './option.ts';
import { publicKeyOption, publicKeys, ShownPublicKey, ShownTrust, trust } from './public-key.ts';
import { role, roleOption } from './user.ts';

const Warning = Type.Object({
  code: oneOf(
    ['expiring', 'expired'],
    'Code of the problem. An API key is `expiring` from two weeks before its expiry.',
  ),
  message: text('Description of the problem and its remedy, for people.'),
});

const scopeTexts = keyScopes.map((scope) => `\`${scope}\`: ${scopePermissions[scope]}`).join('; ');
const scopes = Type.Array(Type.Unsafe<KeyScope>(Type.Union(keyScopes.map((scope) => Type.Literal(scope)))), {
  description: `Scopes. ${scopeTexts}.`,
});

const fields = {
  clientId: text('The `client_id` of the client credentials grant.'),
  name: name(),
  role,
  scopes,
  applications: orNull(
    list(
      Type.String(),
      'Ids of the applications that the API key is bound to; `null` if the API key is for the whole team.',
    ),
  ),
  teamId: text('Id of the team that owns the API key.'),
  credential: oneOf(['secret', 'public-keys', 'trust'], 'Method of authentication.'),
  publicKeys: list(ShownPublicKey, 'Registered public keys; empty for other methods of authentication.'),
  trust: Type.Optional(ShownTrust),
  expiresAt: orNull(time('Time from which the API key and its tokens are refused; `null` if never.')),
  lastUsedAt: orNull(time('Time of the last use, to about five minutes; `null` if the API key was never used.')),
  lastSubject: orNull(
    text('Subject of the workload that used the API key last; `null` if no workload has used the API key.'),
  ),
  previousSecretUntil: orNull(
    time('Time until which the previous secret remains valid; `null` if there is no previous secret.'),
  ),
  warnings: list(Warning, 'Problems of the API key.'),
  createdAt: time('Creation time.'),
};

const example = {
  clientId: exampleIds.apiKey,
  name: 'Deployment',
  role: 'User',
  scopes: ['write'],
  applications: null,
  teamId: exampleIds.team,
  credential: 'secret',
  publicKeys: [],
  expiresAt: null,
  lastUsedAt: null,
  lastSubject: null,
  previousSecretUntil: null,
  warnings: [],
  createdAt: exampleTime,
} satisfies Static<Type.TObject<typeof fields>>;

export const ApiKey = shape('ApiKey', fields, example);
export type ApiKey = Static<typeof ApiKey>;

/** Settings that are stored and returned without conversion. */
export const plainKeySettings = ['name'] as const;
export type PlainKeySettings = StoredFields<ApiKey, typeof plainKeySettings>;

export const ApiKeyShownOnce = shape(
  'ApiKeyShownOnce',
  {
    ...fields,
    clientSecret: Type.Optional(
      text(
        'The `client_secret`, if the API key authenticates with a secret. Store the secret now: it is not shown again.',
      ),
    ),
  },
  { ...example, clientSecret: `fm_secret_${'0'.repeat(64)}` },
);
export type ApiKeyShownOnce = Static<typeof ApiKeyShownOnce>;

const expiresAt = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Time from which the API key is refused, in the future; `null`, the default, if never.',
  ...Time,
});

const bound = Type.Unsafe<readonly string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string' },
  description:
    'Ids of the applications that the API key is bound to, at most 100; `null`, the default, is the whole team. A bound API key has access to these applications only.',
});

const settings = { role, scopes, applications: bound, expiresAt, publicKeys, trust };

export const NewApiKey = bodyShape(
  'NewApiKey',
  { name: name(), ...optional(settings) },
  { name: 'Dashboard', scopes: ['read'] },
);

export const ApiKeyPatch = bodyShape('ApiKeyPatch', optional({ name: name(), ...settings }), {
  name: 'Nightly build',
  expiresAt: null,
});
export type ApiKeyPatch = Static<typeof ApiKeyPatch>;

const settingOptions = {
  scopes: option('scope SCOPE', `Scope: ${keyScopes.join(', ')}; repeatable`),
  applications: option('app APP', 'Application that the API key is bound to: id or name; repeatable', {
    as: 'applicationId',
    more: 'default: the whole team',
  }),
  expiresAt: option('expires TIME', `Expiry: ${laterForms}`, {
    as: 'laterTime',
    more: 'default: never; an empty value removes the expiry',
  }),
  publicKeys: publicKeyOption,
  trust: option('trust-file FILE', 'JSON file that describes trusted workload tokens, used instead of a secret', {
    file: true,
    as: 'jsonFile',
  }),
};

export const apiKeyOptions = {
  create: createFields(NewApiKey, {
    name: null,
    role: { ...roleOption, more: 'selects the scope with the same permissions; default: User' },
    ...settingOptions,
  }),
  update: createFields(ApiKeyPatch, { name: newName, role: roleOption, ...settingOptions }),
};
