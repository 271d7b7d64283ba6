import Type, { type Static } from 'typebox';
import { count, exampleIds, exampleTime, listOf, oneOf, orNull, shape, text, time } from './fields.ts';

const Example = Type.Partial(
  Type.Object({
    environment: text('The environment that the request named.'),
    origin: text('The `Origin`.'),
    keyId: text('Id of the application key.'),
    keyPrefix: text('The beginning of the key.'),
    keyType: oneOf(['Frontend', 'Mobile', 'Backend'], 'The type of the key.'),
    detail: text('What was wrong, as in the answer.'),
  }),
);

const Entry = Type.Object({
  environment: orNull(text('Name of the environment; `null` if the request named none that exists.')),
  transport: oneOf(['http', 'grpc', 'grpc-web'], 'How it came.'),
  route: oneOf(['telemetry', 'usage', 'metrics', 'identities'], 'What it was.'),
  sender: Type.Object({
    userAgent: orNull(text('The `User-Agent`; `__other__` when there are too many to tell apart.')),
    instance: orNull(text('The `instanceName` of a report.')),
  }),
  outcome: oneOf(
    ['accepted', 'refused', 'noted'],
    '`noted`: it was accepted, but not all of it was counted as it was sent.',
  ),
  status: Type.Integer({ description: 'The HTTP status, or the one that corresponds to the gRPC status.' }),
  code: orNull(text('Why it was refused or noted, as in `docs/errors.md`.')),
  count: count('How often.'),
  lastAt: time('When it last happened.'),
  example: Type.Unsafe<Static<typeof Example> | null>({
    ...Example,
    type: ['object', 'null'],
    description: 'What is known of the last one, to find the sender by.',
  }),
});

export const IngestReport = shape(
  'IngestReport',
  {
    environment: orNull(text('The environment that was asked for; `null`: all of the application.')),
    from: time('The beginning, included: a whole hour.'),
    to: time('The end, not included: a whole hour.'),
    accepted: count('Packets and reports that were accepted.'),
    refused: count('Packets and reports that were refused.'),
    noted: count('Notes about those that were accepted.'),
    entries: listOf(Entry, 'Refused ones come first, then noted ones; the latest first.'),
    entriesLeftOut: count('Number of entries that are not shown.'),
  },
  {
    environment: 'Production',
    from: '2026-01-31T00:00:00.000Z',
    to: '2026-02-01T00:00:00.000Z',
    accepted: 1200,
    refused: 3,
    noted: 0,
    entries: [
      {
        environment: 'Production',
        transport: 'http',
        route: 'telemetry',
        sender: { userAgent: 'Mozilla/5.0', instance: null },
        outcome: 'refused',
        status: 403,
        code: 'origin_not_allowed',
        count: 3,
        lastAt: '2026-01-31T11:58:00.000Z',
        example: {
          origin: 'https://shop.test',
          keyId: exampleIds.key,
          keyPrefix: 'fm_fe_000000',
          keyType: 'Frontend',
          detail: 'The application does not allow this origin',
        },
      },
    ],
    entriesLeftOut: 1,
  },
);

export type LedgerEntryShown = Static<typeof Entry>;
export type LedgerShown = Static<typeof IngestReport>;

const exampleRefusal = {
  at: exampleTime,
  route: 'telemetry',
  transport: 'http',
  code: 'unknown_key',
  keyPrefix: 'fm_fe_000000',
  origin: 'https://shop.example',
  userAgent: 'Mozilla/5.0',
  environment: 'Production',
  count: 4,
} as const;

const UnattributedRefusal = shape(
  'UnattributedRefusal',
  {
    at: time('When it last happened.'),
    route: oneOf(['telemetry', 'usage', 'metrics', 'identities'], 'What it was.'),
    transport: oneOf(['http', 'grpc', 'grpc-web'], 'How it came.'),
    code: text('Why it was refused, as in `docs/errors.md`.'),
    keyPrefix: orNull(
      text(
        'The beginning of what was sent as a key; `null` when that does not begin like one of this service.',
      ),
    ),
    origin: orNull(text('The `Origin`.')),
    userAgent: orNull(text('The `User-Agent`.')),
    environment: orNull(text('The environment that was named.')),
    count: count('How often, since the kind was first seen.'),
  },
  exampleRefusal,
);

export const Unattributed = shape(
  'Unattributed',
  { items: listOf(UnattributedRefusal, 'At most 50 kinds, the latest first.') },
  { items: [exampleRefusal] },
);

export type UnattributedShown = Static<typeof Unattributed>;
export type UnattributedRefusalShown = Static<typeof UnattributedRefusal>;
