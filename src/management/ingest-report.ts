import Type from 'typebox';
import { flag, text } from '../contract/shapes/fields.ts';
import { IngestReport } from '../contract/shapes/ledger.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import { ledgerColumns } from '../reports/exports/ledger.ts';
import { anyLength, emptyRange, range, readReportRange } from '../reports/usage/report-range.ts';
import type { Retention } from '../storage/lmdb/blocks.ts';
import { endpoint, type Group } from './endpoint.ts';
import { findEnvironment, unknownEnvironment } from './environments.ts';
import { answerReport, format, orInRows, rowsWanted } from './format.ts';

/** The ledger keeps hours until it is deleted. */
const forever = Number.POSITIVE_INFINITY;
const notRolledUp: Retention = { minutesMs: forever, hoursMs: forever, daysMs: forever };

export const ingest: Group = {
  tag: 'Ingest',
  description: 'The ledger: packets and reports of an application, accepted and refused.',
  endpoints: [
    endpoint('GET /applications/:id/ingest', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'reportIngest',
      counted: 'any',
      summary: 'Report accepted and refused messages by sender and reason',
      description:
        'Without `to` the report ends now; without `from` it is a day long. A refused request appears within a second. CSV and NDJSON have separate rows for each hour.',
      query: {
        environment: Type.Optional(text('Only this environment.')),
        unnamed: Type.Optional(
          flag(
            'With `environment`: also list mint requests, and messages that named no existing environment.',
          ),
        ),
        ...range,
        ...format,
      },
      answers: { 200: orInRows(jsonAnswer(IngestReport, 'The report.'), ledgerColumns) },
      refuses: { invalid_query: emptyRange, unknown_environment: unknownEnvironment },
      handle(call, { reports }) {
        const { directory, application, query } = call;
        const { number, environments, revokedKeys = [] } = application;
        const { environment: name, unnamed = false } = query;
        const only = name === undefined ? undefined : findEnvironment(environments, name);
        const now = directory.clock.now();
        const inHours = { ...query, step: 'hour' } as const;
        const { from, to } = readReportRange(inHours, now, notRolledUp, rowsWanted(call) && anyLength);
        const hours = { from: Math.floor(from / 60), to: Math.ceil(to / 60) };
        const keys = [...revokedKeys, ...directory.keysOf(application.id)].map(
          ({ id, name }) => [id, name] as const,
        );
        const task = { application: { number, environments }, only, unnamed, hours, keys };
        return answerReport(call, reports, 'ledger', task);
      },
    }),
  ],
};
