import Type, { type Static } from 'typebox';
import { bodyShape, count, exampleIds, exampleTime, list, name, oneOf, orNull, shape, text, time } from './fields.ts';

export const type = Type.Union([Type.Literal('Frontend'), Type.Literal('Mobile'), Type.Literal('Backend')], {
  description: 'Frontend and Mobile keys are for browsers and apps, and are public. A Backend key is secret.',
});

/** Instruction for the replacement of an adopted token, which cannot be rotated. */
export const replacement =
  'create a new token in Unleash, adopt it with `flagmeter keys adopt`, and then delete this key';

const nameOfKey = name(
  'Name of the key, which no other key of the application may have when it is created. The default is its type, or `Adopted` and the type for an adopted token, with a number if that name is taken.',
);

export const Warning = Type.Object({
  code: oneOf(
    ['leaked', 'weak'],
    'Code of the problem. An adopted Backend token is `weak` if an attacker might guess the token.',
  ),
  message: text('Description of the problem and its remedy, for people.'),
  at: time('Time when the problem was first detected.'),
});
export type Warning = Static<typeof Warning>;

const Refused = Type.Object(
  {
    count: count('Number of refused messages since the key was created.'),
    lastAt: orNull(time('Time of the last refusal, to about a minute; `null` if no message was refused.')),
    reasons: list(
      Type.Object({
        code: text('Code of the refusal, as in `docs/errors.md`.'),
        count: count('Number of messages refused with this code.'),
      }),
      'Reasons of the refusals, the most frequent first.',
    ),
  },
  { description: 'Statistics of refused packets, reports and mint requests that used this key.' },
);

export const ApplicationKey = shape(
  'ApplicationKey',
  {
    id: text('Id of the key, which is not secret.'),
    type,
    name: nameOfKey,
    prefix: text('The first characters of the key, which identify it for people.'),
    key: Type.Optional(
      text('The key itself. Absent for Backend keys and adopted tokens, which are never shown again.'),
    ),
    environment: Type.Optional(text('Environment of an adopted token.')),
    createdAt: time('Creation time.'),
    expiresAt: orNull(time('Time from which the key is refused after a rotation; `null` if the key was not rotated.')),
    lastUsedAt: orNull(time('Time of the last use, to about a minute; `null` if the key was never used.')),
    refused: Refused,
    warnings: list(Warning, 'Problems of the key.'),
    revokedAt: Type.Optional(time('Time of the revocation. Only the list of revoked keys has this field.')),
  },
  {
    id: exampleIds.key,
    type: 'Frontend',
    name: 'Web',
    prefix: 'fm_fe_000000',
    key: `fm_fe_${'0'.repeat(40)}`,
    createdAt: exampleTime,
    expiresAt: null,
    lastUsedAt: null,
    refused: { count: 3, lastAt: exampleTime, reasons: [{ code: 'origin_not_allowed', count: 3 }] },
    warnings: [],
  },
);
export type ApplicationKey = Static<typeof ApplicationKey>;

export const ApplicationKeyShownOnce = shape(
  'ApplicationKeyShownOnce',
  {
    id: text('Id of the key, which is not secret.'),
    type,
    name: nameOfKey,
    key: text('The new key. Store a Backend key now, and only on servers: the key is not shown again.'),
    createdAt: time('Creation time.'),
    previousKeyUntil: Type.Optional(
      time('Time until which the previous key remains valid. Only the response to a rotation has this field.'),
    ),
  },
  { id: exampleIds.key, type: 'Backend', name: 'Server', key: `fm_be_${'0'.repeat(40)}`, createdAt: exampleTime },
);
export type ApplicationKeyShownOnce = Static<typeof ApplicationKeyShownOnce>;

export const NewApplicationKey = bodyShape(
  'NewApplicationKey',
  { type, name: Type.Optional(nameOfKey) },
  { type: 'Backend', name: 'Server' },
);

export const AdoptedToken = bodyShape(
  'AdoptedToken',
  {
    token: text(
      'The token exactly as clients send it, with at least 16 characters after `project:environment.`. The service stores only a hash of the token.',
    ),
    type,
    environment: text('Name of the environment of the token. Names are case-sensitive.'),
    name: Type.Optional(nameOfKey),
  },
  {
    token: `default:production.${'0'.repeat(56)}`,
    type: 'Backend',
    environment: 'Production',
    name: 'Unleash, production',
  },
);
