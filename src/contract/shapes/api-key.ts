import Type, { type Static } from 'typebox';
import { bodyShape, exampleIds, exampleTime, name, shape, text, time } from './fields.ts';
import { role } from './user.ts';

const fields = {
  clientId: text('The `client_id` of the client credentials grant.'),
  name: name(),
  role,
  teamId: text('Id of the team that owns it.'),
  createdAt: time('Creation time.'),
};

const example = {
  clientId: exampleIds.apiKey,
  name: 'Deployment',
  role: 'User',
  teamId: exampleIds.team,
  createdAt: exampleTime,
} as const;

export const ApiKey = shape('ApiKey', fields, example);
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyShownOnce = shape(
  'ApiKeyShownOnce',
  { ...fields, clientSecret: text('The `client_secret`. Store it now: it is not shown again.') },
  { ...example, clientSecret: `fm_secret_${'0'.repeat(64)}` },
);
export type ApiKeyShownOnce = Static<typeof ApiKeyShownOnce>;

export const NewApiKey = bodyShape(
  'NewApiKey',
  { name: name(), role: Type.Optional(role) },
  { name: 'Deployment', role: 'User' },
);
