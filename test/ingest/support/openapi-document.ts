import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeMetricsHost } from '../../../src/ingest/openapi/document.ts';
import { parseTime } from '../../../src/ingest/report-time.ts';

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example>>;
}

export type Content = Readonly<Record<string, Media>>;

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Content;
}

export interface Operation {
  readonly parameters?: readonly { readonly name?: string; readonly example?: string }[];
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export const openapi = describeMetricsHost({ server: 'http://127.0.0.1:8080', maxBody: 65_536 });

const { paths } = openapi as unknown as Document;

/** Every operation by `POST /path`. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  ),
);

/** Every status that an operation documents. */
export function statusesOf(name: string): number[] {
  const { responses } = operations.get(name)!;
  return Object.keys(responses)
    .filter((status) => status !== 'default')
    .map(Number);
}

/** The codes of the problems that an operation documents, with their examples. */
export function problemsOf(name: string): Map<string, unknown> {
  const { responses } = operations.get(name)!;
  const examples = Object.values(responses).flatMap(({ content }) =>
    Object.entries(content?.['application/problem+json']?.examples ?? {}),
  );
  return new Map(examples.map(([code, { value }]) => [code, value]));
}

const ajv = new Ajv2020({ strict: false, strictNumbers: true });
ajv.addFormat('date-time', (text) => parseTime(text) !== undefined);
ajv.addSchema(openapi, 'openapi');

/** What checks a value against the schema at a place of the document: `['components', 'schemas', 'Packet']`. */
export function validatorAt(place: readonly string[]): ValidateFunction {
  const pointer = place
    .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
    .map(encodeURIComponent);
  return ajv.compile({ $ref: `openapi#/${pointer.join('/')}` });
}

/** Checks a value against a schema of the document's components. */
export function conforms(schema: string, value: unknown): boolean {
  return validatorAt(['components', 'schemas', schema])(value) as boolean;
}

/** What checks the body of a response, by operation, status and content type. */
export function responseValidator(name: string, status: number, type: string): ValidateFunction {
  const [method = '', path = ''] = name.split(' ');
  const operation = ['paths', path, method.toLowerCase()];
  return validatorAt([...operation, 'responses', String(status), 'content', type, 'schema']);
}
