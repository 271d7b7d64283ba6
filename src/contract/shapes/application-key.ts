import Type, { type Static } from 'typebox';
import { bodyShape, count, exampleIds, exampleTime, list, name, oneOf, orNull, shape, text, time } from './fields.ts';

export const type = Type.Union([Type.Literal('Frontend'), Type.Literal('Mobile'), Type.Literal('Backend')], {
  description: 'Frontend and Mobile keys are for browsers and apps, and are public. A Backend key is secret.',
});

/** The remedy for an adopted token, which cannot be rotated. */
export const replacement =
  'create a new token in Unleash, adopt it with `flagmeter keys adopt`, and then delete this key';

const nameOfKey = name('Name. The default is the type of the key, or for an adopted token `Adopted` and the type.');

export const Warning = Type.Object({
  code: oneOf(['leaked', 'weak'], 'The problem. An adopted Backend token is `weak` if it looks guessable.'),
  message: text('The problem and its remedy, for people.'),
  at: time('Time of the first detection.'),
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
  { description: 'Refused packets, reports and mint requests that named this key.' },
);

export const ApplicationKey = shape(
  'ApplicationKey',
  {
    id: text('Id. It is not secret.'),
    type,
    name: nameOfKey,
    prefix: text('The first characters of the key, to recognise it by.'),
    key: Type.Optional(text('The key. Absent from a Backend key and an adopted token, which cannot be read again.')),
    environment: Type.Optional(text('Environment of an adopted token.')),
    createdAt: time('Creation time.'),
    expiresAt: orNull(
      time('Time from which the key is refused, because it was rotated; `null` if it was not rotated.'),
    ),
    lastUsedAt: orNull(time('Time of the last use, to about a minute; `null` if it was never used.')),
    refused: Refused,
    warnings: list(Warning, 'Problems of the key.'),
    revokedAt: Type.Optional(time('Time of the revocation; only in the list of revoked keys.')),
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
    id: text('Id. It is not secret.'),
    type,
    name: nameOfKey,
    key: text('The key. Store a Backend key now, and only on servers: it is not shown again.'),
    createdAt: time('Creation time.'),
    previousKeyUntil: Type.Optional(time('Time until which the previous key remains valid; only after a rotation.')),
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
      'The token as its clients send it: 16 characters or more after `project:environment.`. Only its hash is kept.',
    ),
    type,
    environment: text('Name of the environment of the token; case-sensitive.'),
    name: Type.Optional(nameOfKey),
  },
  {
    token: `default:production.${'0'.repeat(56)}`,
    type: 'Backend',
    environment: 'Production',
    name: 'Unleash, production',
  },
);
