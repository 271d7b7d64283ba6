/*
 * Reports as files: their rows in CSV or NDJSON, sent while they are read, so that memory does not depend on their number.
 */
import Type from 'typebox';
import type { DeclaredAnswer, Headers } from '../../http/endpoint.ts';
import { typeFor } from '../../http/media-type.ts';
import type { Request } from '../../http/types.ts';
import type { RowFormat } from './row-format.ts';
import { type Columns, RowWriter } from './row-writer.ts';

/** Media types by the format that `format` names. */
const types = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
} as const;

type Format = keyof typeof types;

/** The parameter of a report that can also be had in rows. */
export const format = {
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv'), Type.Literal('ndjson')], {
      component: 'Format',
      description:
        'The format of the answer; without it `Accept` decides. `csv` and `ndjson` have a row for each thing that is reported, and no limit of points or items.',
    }),
  ),
};

/** Declares that an answer can also be had in rows. */
export function orInRows<Body, Required extends Headers>(
  answer: DeclaredAnswer<Body, Required>,
  columns: Columns,
): DeclaredAnswer<Body, Required> {
  const rows = Object.entries(columns).map(([name, { description }]) => `\`${name}\`: ${description}`);
  const example = (each: RowFormat) => {
    const writer = new RowWriter(each, columns);
    const cells = Object.values(columns).map((column) => column.example);
    writer.add(writer.part(0, cells));
    writer.end();
    return new TextDecoder().decode(writer.rest());
  };
  const media = (each: RowFormat, what: string) => ({
    schema: { type: 'string', description: `${what}\n\n${rows.join('\n')}` },
    example: example(each),
  });
  return {
    ...answer,
    content: {
      ...answer.content,
      [types.csv]: media('csv', 'A header row, then a row for each; RFC 4180.'),
      [types.ndjson]: media('ndjson', 'A JSON object in each line.'),
    },
  };
}

/** The format of rows that a caller wants, and its media type; `undefined` for JSON. */
export function rowsWanted(
  { format }: { readonly format?: Format },
  request: Request,
): { readonly format: RowFormat; readonly type: string } | undefined {
  const wanted = format === undefined ? acceptedBy(request) : format;
  return wanted === 'json' ? undefined : { format: wanted, type: types[wanted] };
}

function acceptedBy(request: Request): Format {
  const type = typeFor(request.header('accept'), [types.json, types.csv, types.ndjson]);
  return type === types.csv ? 'csv' : type === types.ndjson ? 'ndjson' : 'json';
}
