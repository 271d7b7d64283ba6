import Type, { type Static } from 'typebox';
import { routeNames, transportNames } from '../message-routes.ts';
import { count, exampleIds, exampleTime, list, oneOf, orNull, shape, text, time } from './fields.ts';

const Example = Type.Partial(
  Type.Object({
    environment: text('Name of the environment in the request.'),
    origin: text('`Origin` header.'),
    keyId: text('Id of the application key.'),
    keyName: text('Name of the application key. Absent if the key no longer exists.'),
    keyPrefix: text('First characters of the application key.'),
    keyType: oneOf(['Frontend', 'Mobile', 'Backend'], 'Type of the key.'),
    detail: text('The error message of the response. For a note: the path of the omitted entry.'),
  }),
);

const LedgerEntry = Type.Object({
  environment: orNull(text('Name of the environment; `null` if the request did not name an existing environment.')),
  transport: oneOf(transportNames, 'Transport.'),
  route: oneOf(routeNames, 'Kind of the request.'),
  sender: Type.Object({
    userAgent: orNull(text('`User-Agent` header of the request; `__other__` stands for headers beyond the limit.')),
    instance: orNull(text('`instanceName` of a report.')),
  }),
  outcome: oneOf(
    ['accepted', 'refused', 'noted'],
    '`noted`: the message was accepted, but not all of it was counted as sent.',
  ),
  status: Type.Integer({ description: 'HTTP status, or the status that corresponds to the gRPC status.' }),
  code: orNull(text('Code of the refusal or note, as in `docs/errors.md`.')),
  count: count('Number of occurrences.'),
  lastAt: time('Time of the last occurrence.'),
  example: orNull(Example, 'Details of the last occurrence, which help to identify the sender.'),
});
export type LedgerEntry = Static<typeof LedgerEntry>;

const VersionCounts = Type.Object({
  version: orNull(
    text('Version in `User-Agent`; `null` if unknown. `__other__` stands for versions beyond the limit.'),
  ),
  accepted: count('Accepted messages.'),
  refused: count('Refused messages.'),
  hourly: list(Type.Integer({ minimum: 0 }), 'Messages in each hour of the report.'),
});
export type VersionCounts = Static<typeof VersionCounts>;

export const IngestReport = shape(
  'IngestReport',
  {
    environment: orNull(text('Environment that the request selected; `null` for the whole application.')),
    from: time('Start of the report, inclusive: a whole hour.'),
    to: time('End of the report, exclusive: a whole hour.'),
    accepted: count('Accepted packets and reports of the environment.'),
    refused: count('Refused packets and reports that named the environment.'),
    noted: count('Notes about accepted packets and reports.'),
    unnamed: Type.Object(
      {
        accepted: count('Accepted packets, reports and mint requests.'),
        refused: count('Refused packets, reports and mint requests.'),
        noted: count('Notes about accepted packets, reports and mint requests.'),
      },
      {
        description:
          'Totals of mint requests and of messages that named no existing environment. In a report without `environment`, the totals above include these messages.',
      },
    ),
    entries: list(LedgerEntry, 'Entries of the report: refusals first, then notes, each with the latest first.'),
    entriesLeftOut: count('Number of entries that the response omits.'),
    versions: Type.Optional(
      list(VersionCounts, 'Messages of the program in `versionsOf`, the latest version first; absent without it.'),
    ),
  },
  {
    environment: 'Production',
    from: '2026-01-31T00:00:00.000Z',
    to: '2026-02-01T00:00:00.000Z',
    accepted: 1200,
    refused: 3,
    noted: 0,
    unnamed: { accepted: 0, refused: 0, noted: 0 },
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
          keyName: 'Web',
          keyPrefix: 'fm_fe_000000',
          keyType: 'Frontend',
          detail: 'The application does not allow this origin',
        },
      },
    ],
    entriesLeftOut: 1,
  },
);
export type IngestReport = Static<typeof IngestReport>;

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
    at: time('Time of the last occurrence.'),
    route: oneOf(routeNames, 'Kind of the request.'),
    transport: oneOf(transportNames, 'Transport.'),
    code: text('Code of the refusal, as in `docs/errors.md`.'),
    keyPrefix: orNull(
      text('First characters of the sent key; `null` if the sent text does not look like a key of this service.'),
    ),
    origin: orNull(text('`Origin` header.')),
    userAgent: orNull(text('`User-Agent` header.')),
    environment: orNull(text('Name of the environment in the request.')),
    count: count('Number of occurrences since the first occurrence.'),
  },
  exampleRefusal,
);
export type UnattributedRefusal = Static<typeof UnattributedRefusal>;

const exampleToken = {
  token: 'default:production.…',
  sender: 'billing (unleash-node-sdk 6.12.1)',
  count: 4,
  since: '2026-01-31T11:00:00.000Z',
  lastAt: exampleTime,
} as const;

const RefusedToken = shape(
  'RefusedToken',
  {
    token: text(
      'Project and environment in the token; `__other__` stands for tokens beyond the limit. The service does not keep the secret of the token.',
    ),
    sender: orNull(text('Name of the service that sent the token, and its SDK if the request names the SDK.')),
    count: count('Number of refused messages.'),
    since: time('Start of the hour of the first message.'),
    lastAt: time('Time of the last message.'),
  },
  exampleToken,
);
export type RefusedToken = Static<typeof RefusedToken>;

export const UnattributedReport = shape(
  'Unattributed',
  {
    items: list(UnattributedRefusal, 'At most 50 kinds of refusals, the latest first.'),
    tokens: list(
      RefusedToken,
      'Unleash tokens of the last 24 hours that belonged to no application, the latest first, at most 50.',
    ),
  },
  { items: [exampleRefusal], tokens: [exampleToken] },
);
export type UnattributedReport = Static<typeof UnattributedReport>;
