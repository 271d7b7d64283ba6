import { parameterNamed } from '../../http/openapi/headers.ts';
import type { Json } from '../../http/openapi/json-schema.ts';
import type { Access } from '../access.ts';

/** Parameters that more than one operation reads: `components.parameters` of the document. */
export const parameters = {
  Limit: inQuery('limit', 'Most items of the page.', {
    type: 'integer',
    minimum: 1,
    maximum: 200,
    default: 50,
  }),
  Cursor: inQuery('cursor', 'The `nextCursor` of the page before; the first page without it.'),
  From: inQuery('from', 'The beginning, included.', { type: 'string', format: 'date-time' }),
  To: inQuery('to', 'The end, not included.', { type: 'string', format: 'date-time' }),
  Step: inQuery('step', 'The width of a bucket of the series.', {
    enum: ['minute', 'hour', 'day'],
    default: 'hour',
  }),
  Environment: { ...inQuery('environment', 'Name of the environment.'), required: true },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` that was read: the change is made only when nothing has changed since. Without it, or with `*`, it is made to whatever is there.',
    schema: { type: 'string' },
  },
} as const;

/** The parameters of every list. */
export const paging: readonly Json[] = [parameterNamed('Limit'), parameterNamed('Cursor')];

/** The range of a report. */
export const range: readonly Json[] = [parameterNamed('From'), parameterNamed('To')];

/** A parameter in the query, a text unless the schema says otherwise. */
export function inQuery(name: string, description: string, schema: Json = { type: 'string' }) {
  return { name, in: 'query', description, schema };
}

/** A parameter that narrows a list to what is so, or to what is not. */
export function filter(name: string, description: string): Json {
  return inQuery(name, description, { type: 'boolean' });
}

const inPath: Readonly<Record<string, string>> = {
  name: 'Name of the environment.',
  keyId: 'Id of the key.',
  feature: 'Name of the feature.',
  metric: 'Name of the metric.',
  identity: 'The identity, as it was minted or asserted.',
  userId: 'Id of the user.',
  clientId: 'Client id.',
};

/** The parameters in the path of a route. */
export function pathParameters(path: string, { within }: Access): readonly Json[] {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name);
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: inPath[name] ?? `Id of the ${within}.`,
    schema: { type: 'string', minLength: 1 },
  }));
}
