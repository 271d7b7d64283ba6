/* Reports as rows in CSV or NDJSON, sent while they are read. Memory use does not depend on the number of rows. */
import Type from 'typebox';
import type { DeclaredResponse, Headers } from '../http/endpoint.ts';
import { typeFor } from '../http/negotiation.ts';
import { type JsonBytes, ok, RawBody, type TypedResponse } from '../http/responses.ts';
import type { Request } from '../http/types.ts';
import type { ExportName, ExportTask } from '../reports/exports/make-export.ts';
import { type Cell, type Columns, cellsIn, type RowFormat, RowWriter } from '../reports/exports/row-writer.ts';
import type { ReportResult, Reports } from '../reports/make-report.ts';
import type { ReportPool } from '../reports/report-pool.ts';
import type { Application } from '../storage/lmdb/records.ts';

/** Media types by format. */
const types = { json: 'application/json', csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

type Format = keyof typeof types;

/** The query parameter `format` of a report that is also available in rows. */
export const format = {
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv'), Type.Literal('ndjson')], {
      component: 'Format',
      description:
        'The format of the response. The default depends on `Accept`. `csv` and `ndjson` have a row for each item, without limits of points or items.',
    }),
  ),
};

/** Declares that a response is also available in rows. */
export function orInRows<Body, Required extends Headers>(
  response: DeclaredResponse<Body, Required>,
  columns: Columns,
): DeclaredResponse<Body, Required> {
  const rows = Object.entries(columns).map(([name, { description }]) => `\`${name}\`: ${description}`);
  const cells = Object.values(columns).map((column) => column.example);
  const media = (each: RowFormat, what: string) => ({
    schema: { type: 'string', description: `${what}\n\n${rows.join('\n')}` },
    example: new TextDecoder().decode(encodeRows(each, columns, [cells])),
  });
  return {
    ...response,
    content: {
      ...response.content,
      [types.csv]: media('csv', 'A header row, then a row for each item (RFC 4180).'),
      [types.ndjson]: media('ndjson', 'A JSON object per line.'),
    },
  };
}

interface FormatRequest {
  readonly query: { readonly format?: Format };
  readonly request: Request;
}

/** Returns the requested format of the rows; `undefined` for JSON. */
export function rowsWanted({ query, request }: FormatRequest): RowFormat | undefined {
  const wanted = query.format ?? acceptedBy(request);
  return wanted === 'json' ? undefined : wanted;
}

function acceptedBy(request: Request): Format {
  const type = typeFor(request.header('accept'), [types.json, types.csv, types.ndjson]);
  return type === types.csv ? 'csv' : type === types.ndjson ? 'ndjson' : 'json';
}

/** Responds with 200 and a report, as JSON or in rows that are sent while they are read. */
export async function respondWithReport<Name extends ExportName>(
  call: FormatRequest & { readonly application: Pick<Application, 'teamId'> },
  reports: ReportPool,
  name: Name,
  task: ExportTask<Name> & Parameters<Reports[Name]>[0],
): Promise<TypedResponse<200, ReportOf<Name>>> {
  const { teamId } = call.application;
  const rows = rowsWanted(call);
  if (rows === undefined) return ok((await reports.make(teamId, name, task)) as JsonBytes<ReportOf<Name>>);
  return written(types[rows], await reports.export(teamId, name, task, rows));
}

type ReportOf<Name extends ExportName> = ReportResult<Name> extends JsonBytes<infer Report> ? Report : never;

/**
 * Responds with 200 and a report that is small enough to be formatted as a whole.
 * @param listItems lists the rows, with a field for each column
 */
export function respondWithRows<Report>(
  call: FormatRequest,
  report: Report | JsonBytes<Report>,
  columns: Columns,
  listItems: (report: Report) => readonly object[],
): TypedResponse<200, Report> {
  const format = rowsWanted(call);
  if (format === undefined) return ok(report);
  const read = report instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(report)) : report;
  const rows = listItems(read).map((item) => cellsIn(item, columns));
  return written(types[format], encodeRows(format, columns, rows));
}

function encodeRows(format: RowFormat, columns: Columns, rows: readonly (readonly Cell[])[]): Uint8Array {
  const writer = new RowWriter(format, columns);
  for (const cells of rows) {
    writer.add(writer.encode(0, cells));
    writer.end();
  }
  return writer.rest();
}

/** Responds with 200 and a body in a format other than JSON. */
export function written(...[type, content]: ConstructorParameters<typeof RawBody>): TypedResponse<200, never> {
  return { status: 200, body: new RawBody(type, content), headers: {} };
}
