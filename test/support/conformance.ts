import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Json } from '../../src/http/endpoint.ts';
import { type OpenApi, type Response, readOpenApi } from './openapi.ts';

/** A response before it is parsed. */
export interface UnparsedResponse {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Reads a response of `fetch`. */
export async function read(response: globalThis.Response): Promise<UnparsedResponse> {
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), text: await response.text() };
}

/** Headers that the document must mention if they are sent. */
const promised = /^(access-control-.*|cache-control|retry-after|vary|etag|location|www-authenticate)$/;

/** Compares a service with its OpenAPI document. */
export interface Conformance {
  /** The document, changed so that schemas allow only the named properties. */
  readonly closed: OpenApi;
  /** Returns the documented operation of a request; `undefined` if the document lacks the operation. */
  findOperation(method: string, path: string): string | undefined;
  departures(operation: string, response: UnparsedResponse): string[];
  /** Returns how a body deviates from the documented operation. */
  bodyDepartures(operation: string, body: string | Uint8Array): string[];
}

/** Creates the checks for an OpenAPI document. */
export function createConformance(openapi: Json): Conformance {
  const closed = readOpenApi(close(openapi));
  const patterns = createPatterns(closed);
  const { headers: named = {} } = openapi['components'] as { headers?: Record<string, object> };

  function departures(operation: string, { status, headers, text }: UnparsedResponse): string[] {
    const documented = closed.operations.get(operation)!.responses[status];
    if (documented === undefined) return [`status ${status} is not documented`];
    return [
      ...strayHeaders(documented, headers, named),
      ...strayBody(closed, operation, status, documented, headers, text),
    ];
  }

  function bodyDepartures(operation: string, body: string | Uint8Array): string[] {
    const documented = closed.operations.get(operation)!.requestBody;
    if (documented === undefined) return body.length === 0 ? [] : ['a body is not documented'];
    if (body.length === 0 && !documented.required) return [];
    const validate = closed.requestValidator(operation, 'application/json');
    validate(JSON.parse(Buffer.from(body).toString()));
    return formatErrors(validate);
  }

  function findOperation(method: string, path: string): string | undefined {
    const found = patterns.filter((each) => each.method === method && each.path.test(path));
    return found.sort((a, b) => a.parameters - b.parameters)[0]?.name;
  }

  return { closed, findOperation, departures, bodyDepartures };
}

/** Returns the documented operations, with patterns that match their paths. */
function createPatterns({ operations }: OpenApi) {
  return [...operations.keys()].map((name) => {
    const [method, template = ''] = name.split(' ');
    const path = new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
    return { name, method, path, parameters: template.split('{').length };
  });
}

function strayHeaders(
  { headers: documented = {} }: Response,
  headers: UnparsedResponse['headers'],
  named: Readonly<Record<string, object>>,
): string[] {
  const known = new Map(Object.entries(documented).map(([name, each]) => [name.toLowerCase(), each]));
  const sent = Object.keys(headers).filter((name) => promised.test(name));
  const missing = [...known].filter(([name, each]) => isRequired(each, named) && !sent.includes(name));
  return [
    ...sent.filter((name) => !known.has(name)).map((name) => `header ${name} is not documented`),
    ...missing.map(([name]) => `header ${name} is missing`),
  ];
}

function isRequired(header: object, named: Readonly<Record<string, object>>): boolean {
  const { $ref = '', required } = header as { $ref?: string; required?: boolean };
  return required ?? ($ref !== '' && isRequired(named[$ref.split('/').at(-1)!]!, named));
}

function strayBody(
  closed: OpenApi,
  operation: string,
  status: number,
  { content }: Response,
  headers: UnparsedResponse['headers'],
  text: string,
): string[] {
  if (content === undefined) return text === '' ? [] : ['a body is not documented'];
  const type = headers['content-type'] ?? '';
  if (content[type] === undefined) return [`content type ${type} is not documented`];
  const validate = closed.responseValidator(operation, status, type);
  validate(type.endsWith('json') && !type.endsWith('ndjson') ? JSON.parse(text) : text);
  return formatErrors(validate);
}

function formatErrors({ errors }: ValidateFunction): string[] {
  return (errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath || 'the body', message, JSON.stringify(params)].join(' '),
  );
}

/** Returns a copy whose object schemas allow only the named properties. */
function close<T>(value: T): T {
  if (Array.isArray(value)) return value.map(close) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, close(each)]);
  const copy = Object.fromEntries(entries);
  return 'properties' in value && 'type' in value ? { ...copy, unevaluatedProperties: false } : copy;
}
