import Type, { type Static } from 'typebox';
import {
  bodyShape,
  exampleIds,
  exampleTime,
  listOf,
  name,
  oneOf,
  orNull,
  shape,
  Time,
  text,
  time,
} from './fields.ts';
import { publicKeys, ShownPublicKey, ShownTrust, trust } from './public-key.ts';
import { role } from './user.ts';

const Warning = Type.Object({
  code: oneOf(['expiring', 'expired'], 'The problem. A key is `expiring` two weeks before its expiry.'),
  message: text('The problem and its remedy, for people.'),
});

const fields = {
  clientId: text('The `client_id` of the client credentials grant.'),
  name: name(),
  role,
  teamId: text('Id of the team that owns it.'),
  credential: oneOf(['secret', 'public-keys', 'trust'], 'What it authenticates by.'),
  publicKeys: listOf(ShownPublicKey, 'The registered public keys. Empty unless it authenticates by them.'),
  trust: Type.Optional(ShownTrust),
  expiresAt: orNull(time('Time from which the API key and its tokens are refused; `null` if never.')),
  lastUsedAt: orNull(time('Time of the last use, to about five minutes; `null` if it was never used.')),
  lastSubject: orNull(text('Subject of the workload that used it last; `null` if none did.')),
  previousSecretUntil: orNull(
    time('Time until which the previous secret is accepted as well; `null` if there is none.'),
  ),
  warnings: listOf(Warning, 'Problems of the API key.'),
  createdAt: time('Creation time.'),
};

const example = {
  clientId: exampleIds.apiKey,
  name: 'Deployment',
  role: 'User',
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

export const ApiKeyShownOnce = shape(
  'ApiKeyShownOnce',
  {
    ...fields,
    clientSecret: Type.Optional(
      text('The `client_secret`, if it authenticates by one. Store it now: it is not shown again.'),
    ),
  },
  { ...example, clientSecret: `fm_secret_${'0'.repeat(64)}` },
);
export type ApiKeyShownOnce = Static<typeof ApiKeyShownOnce>;

const expiresAt = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'Time from which it is refused, in the future; `null`, the default, if never.',
  ...Time,
});

export const NewApiKey = bodyShape(
  'NewApiKey',
  {
    name: name(),
    role: Type.Optional(role),
    expiresAt: Type.Optional(expiresAt),
    publicKeys: Type.Optional(publicKeys),
    trust: Type.Optional(trust),
  },
  { name: 'Deployment', role: 'User' },
);

export const ApiKeyPatch = bodyShape(
  'ApiKeyPatch',
  {
    name: Type.Optional(name()),
    role: Type.Optional(role),
    expiresAt: Type.Optional(expiresAt),
    publicKeys: Type.Optional(publicKeys),
    trust: Type.Optional(trust),
  },
  { name: 'Nightly build', expiresAt: null },
);
export type ApiKeyPatch = Static<typeof ApiKeyPatch>;
