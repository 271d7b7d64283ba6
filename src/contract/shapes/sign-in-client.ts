import Type, { type Static } from 'typebox';
import { bodyShape, exampleIds, exampleTime, list, name, type StoredFields, shape, text, time } from './fields.ts';
import { createFields, option } from './option.ts';
import { publicKeyOption, publicKeys, ShownPublicKey } from './public-key.ts';

const settings = {
  name: name('Name of the client. The sign-in page shows this name, which must not resemble the name of this service.'),
  type: Type.Union([Type.Literal('public'), Type.Literal('confidential')], {
    description:
      'A confidential client has a secret. A program that runs on its users’ devices cannot keep a secret, and is public.',
  }),
  redirectUris: Type.Array(Type.String(), {
    description:
      'Redirect URIs: `https:`, `http:` to the local machine, or the scheme of an app. A request must contain exactly one of these URIs.',
    documented: { minItems: 1, maxItems: 20 },
  }),
};

const fields = {
  clientId: text('The `client_id` of the authorization code grant.'),
  ...settings,
  publicKeys: list(ShownPublicKey, 'Registered public keys of a client that has no secret.'),
  teamId: text('Id of the team that owns the client. Members of the team may sign in to the client.'),
  createdAt: time('Creation time.'),
};

const example = {
  clientId: exampleIds.client,
  name: 'Extension',
  type: 'public' as const,
  teamId: exampleIds.team,
  publicKeys: [],
  redirectUris: ['com.example.extension:/callback'],
  createdAt: exampleTime,
};

export const SignInClient = shape('SignInClient', fields, example);
export type SignInClient = Static<typeof SignInClient>;

/** Settings that are stored and returned without conversion. */
export const plainClientSettings = ['name', 'redirectUris'] as const;
export type PlainClientSettings = StoredFields<SignInClient, typeof plainClientSettings>;

export const SignInClientShownOnce = shape(
  'SignInClientShownOnce',
  {
    ...fields,
    clientSecret: Type.Optional(
      text('The secret of a confidential client without public keys. Store the secret now: it is not shown again.'),
    ),
  },
  example,
);
export type SignInClientShownOnce = Static<typeof SignInClientShownOnce>;

export const NewSignInClient = bodyShape(
  'NewSignInClient',
  { ...settings, publicKeys: Type.Optional(publicKeys) },
  { name: 'Extension', type: 'public', redirectUris: ['com.example.extension:/callback'] },
);

export const signInClientOptions = createFields(NewSignInClient, {
  name: null,
  redirectUris: option('redirect-uri URI', 'Redirect URI, matched exactly; repeatable'),
  type: option('type TYPE', "public: runs on its users' devices; confidential: can keep a secret", {
    more: 'default: public',
    default: 'public',
  }),
  publicKeys: publicKeyOption,
});
