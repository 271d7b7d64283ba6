import { one } from './answers.ts';
import type { Resource } from './operation.ts';
import { inQuery, range } from './parameters.ts';
import { count, exampleIds, fields, listOf, oneOf, orNull, type Shape, text, time } from './shape.ts';

const entry = fields({
  environment: orNull(text('Name of the environment; `null` when none that is there was named.')),
  transport: oneOf(['http', 'grpc', 'grpc-web'], 'How it came.'),
  route: oneOf(['telemetry', 'usage', 'metrics', 'identities'], 'What it was.'),
  sender: fields({
    userAgent: orNull(text('The `User-Agent`; `__other__` for those that are too many to be told apart.')),
    instance: orNull(text('The `instanceName` of a report.')),
  }),
  outcome: oneOf(
    ['accepted', 'refused', 'noted'],
    '`noted`: it was accepted, but not all of it was counted as it was sent.',
  ),
  status: { type: 'integer', description: 'The HTTP status, or the one that stands for that of gRPC.' },
  code: orNull(text('Why it was refused or noted, as `docs/errors.md` says.')),
  count: count('How often.'),
  lastAt: time('When it happened the last time.'),
  example: {
    ...fields(
      {
        environment: text('The environment that was asked for.'),
        origin: text('The `Origin`.'),
        keyId: text('Id of the application key.'),
        keyPrefix: text('The beginning of the key.'),
        keyType: oneOf(['Frontend', 'Mobile', 'Backend'], 'The type of the key.'),
        detail: text('What was wrong, in the words of the answer.'),
      },
      ['environment', 'origin', 'keyId', 'keyPrefix', 'keyType', 'detail'],
    ),
    type: ['object', 'null'],
    description: 'The last one, as far as it is of use to who looks for the culprit.',
  },
});

const ingestReport: Shape = {
  name: 'IngestReport',
  schema: fields({
    environment: orNull(text('The environment that was asked for; `null`: all of the application.')),
    from: time('The beginning, included: a whole hour.'),
    to: time('The end, not included: a whole hour.'),
    accepted: count('Packets and reports that were accepted.'),
    refused: count('Those that were refused.'),
    noted: count('What was noted of those that were accepted.'),
    entries: listOf(entry, 'What needs a look comes first, and of that the latest.'),
    entriesLeftOut: count('Entries that there are beside these.'),
  }),
  example: {
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
};

/** `/applications/{id}/ingest`. */
export const ingest: Resource = {
  tag: 'Ingest',
  words: 'The ledger: what became of the packets and reports of an application.',
  shapes: [ingestReport],
  routes: {
    'GET /applications/:id/ingest': {
      operationId: 'reportIngest',
      summary: 'Report what was accepted and what was refused, why, and from which sender',
      description:
        'Without `to` it ends now, without `from` it is a day long. What was refused is in it after a second.',
      query: [inQuery('environment', 'Only this environment.'), ...range],
      answers: { 200: one(ingestReport, 'The report.') },
      refusals: {
        invalid_query: 'from must be before to',
        unknown_environment: 'The application has no such environment',
      },
    },
  },
};
