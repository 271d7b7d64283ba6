import { version } from '../../../package.json' with { type: 'json' };
import { type RefusalCode, refusals } from '../../contract/refusals.ts';
import type { DocumentOptions } from '../../contract/shapes/fields.ts';
import {
  type DeclaredResponse,
  type Group,
  type Headers,
  type Json,
  type Media,
  type Operation,
  type Refusals,
  RetryAfter,
} from '../endpoint.ts';
import { describeProblem } from '../responses.ts';

/** Host data of an OpenAPI document, in addition to the endpoints. */
interface Host {
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  readonly server: string;
  readonly securitySchemes: Json;
  /** Security of operations that declare no security. */
  readonly security?: readonly Json[];
}

/** Returns the OpenAPI 3.1 document of a host. */
export function describeHost(host: Host, groups: readonly Group[]): Json {
  const { title, summary, description, server, securitySchemes, security } = host;
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  return {
    openapi: '3.1.0',
    info: { title, version, summary, description, license },
    servers: [{ url: server }],
    ...(security !== undefined && { security }),
    ...describeEndpoints(groups, { securitySchemes }),
  };
}

/** @param fixed `components` that are not derived from endpoints */
function describeEndpoints(groups: readonly Group[], fixed: Json): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const { tag, endpoints } of groups)
    for (const { method, path, operation } of endpoints) {
      if (operation === undefined) continue;
      const template = path.replace(/:(\w+)/g, '{$1}');
      const described = { [method.toLowerCase()]: describeOperation(operation, tag, components) };
      paths[template] = { ...paths[template], ...described };
    }
  return {
    tags: groups
      .filter(({ endpoints }) => endpoints.some(({ operation }) => operation !== undefined))
      .map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: { ...components.toJson(), ...fixed },
  };
}

function describeOperation(operation: Operation, tag: string, components: Components): Json {
  const { operationId, summary, description, security, parameters, body, bodyOptional } = operation;
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(security !== undefined && { security }),
    ...(parameters !== undefined && {
      parameters: parameters.map((parameter) => components.addComponent('parameters', parameter)),
    }),
    ...(body !== undefined && { requestBody: { required: !bodyOptional, content: mapMedia(body, components) } }),
    responses: describeResponses(operation, components),
  };
}

function describeResponses({ responses, refuses, refusalHeaders }: Operation, components: Components): Json {
  const getHeaders = (status: number) => describeHeaders(refusalHeaders?.(status) ?? {}, components);
  return {
    ...mapValues(responses, (response) => describeResponse(response, components)),
    ...(refuses !== undefined && refusalResponses(refuses, getHeaders, components)),
  };
}

function describeResponse({ description, headers, content }: DeclaredResponse, components: Components): Json {
  return {
    description,
    ...(Object.keys(headers).length > 0 && { headers: describeHeaders(headers, components) }),
    ...(content !== undefined && { content: mapMedia(content, components) }),
  };
}

function describeHeaders(headers: Headers, components: Components): Json {
  return mapValues(headers, (header) => components.addComponent('headers', header));
}

function mapMedia(content: Readonly<Record<string, Media>>, components: Components): Json {
  return mapValues(content, ({ schema, ...examples }) => ({ schema: components.schema(schema), ...examples }));
}

function mapValues<T>(values: Readonly<Record<number, T>>, map: (value: T) => Json): Json {
  return Object.fromEntries(Object.entries<T>({ ...values }).map(([name, value]) => [name, map(value)]));
}

/** Schema of every refusal (RFC 9457). */
const problem = {
  component: 'Problem',
  description: 'A refusal (RFC 9457). Programs should use `code`; `detail` is for people and can change.',
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'The meaning of the code; the same for every refusal with it.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    code: { type: 'string', description: 'A stable identifier of the error.' },
    formerCode: { type: 'string', description: 'The code in earlier builds, if it was renamed.' },
    detail: { type: 'string', description: 'The error in this request.' },
  },
} as const;

/**
 * Describes the refusals of an operation: a response per status with an example per code, and `default` for a failure.
 * @param getHeaders returns the headers of the operation by status
 */
function refusalResponses(declared: Refusals, getHeaders: (status: number) => Json, components: Components): Json {
  const byStatus = new Map<number, Json>();
  for (const [code, detail] of Object.entries(declared) as [RefusalCode, string][]) {
    const value = describeProblem(code, detail);
    byStatus.set(value.status, { ...byStatus.get(value.status), [code]: { value } });
  }
  const wait = { 'Retry-After': components.addComponent('headers', RetryAfter) };
  const responses = Array.from(byStatus, ([status, examples]) => {
    const headers = { ...getHeaders(status), ...((status === 429 || status === 503) && wait) };
    return [status, describeRefusal(status, examples, headers, components)];
  });
  const failure = {
    description: 'The service or an intermediary failed.',
    content: { 'application/problem+json': { schema: components.schema(problem) } },
  };
  return { ...Object.fromEntries(responses), default: failure };
}

function describeRefusal(status: number, examples: Json, headers: Json, components: Components): Json {
  const codes = Object.keys(examples) as RefusalCode[];
  const properties = { status: { const: status }, code: { enum: codes } };
  const schema = { ...components.schema(problem), properties };
  return {
    description: `${codes.map((code) => refusals[code].title).join('. ')}.`,
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { 'application/problem+json': { schema, examples } },
  };
}

type Section = 'schemas' | 'parameters' | 'headers';

class Components {
  readonly #sections: Readonly<Record<Section, Map<string, Json>>> = {
    schemas: new Map(),
    parameters: new Map(),
    headers: new Map(),
  };

  schema(schema: object): Json {
    return jsonSchema(schema, (name, describe) => this.#refer('schemas', name, describe));
  }

  /**
   * Adds a component if it has a name.
   * @returns a reference to it; without a name, the description itself
   */
  addComponent(
    section: 'parameters' | 'headers',
    { component, schema, ...rest }: { readonly component?: string; readonly schema: object },
  ): Json {
    const describe = () => ({ ...rest, schema: this.schema(schema) });
    return component === undefined ? describe() : this.#refer(section, component, describe);
  }

  toJson(): Json {
    return Object.fromEntries(
      Object.entries(this.#sections).map(([section, parts]) => [section, Object.fromEntries(parts)]),
    );
  }

  #refer(section: Section, name: string, describe: () => Json): Json {
    const entries = this.#sections[section];
    if (!entries.has(name)) entries.set(name, describe());
    return { $ref: `#/components/${section}/${name}` };
  }
}

type Refer = (name: string, describe: () => Json) => Json;

/**
 * Returns the JSON Schema that the document shows for a validating schema. The empty pattern of a map (see `Named`)
 * becomes `additionalProperties`, and `DocumentOptions` are applied.
 */
function jsonSchema(schema: object, refer: Refer): Json {
  const { component, documented, example: _, ...plain } = schema as DocumentOptions & Json;
  const more = documented === undefined ? {} : jsonSchema(documented, refer);
  if ('$ref' in more) return reference(more, plain);
  const describe = () => ({ ...showAll(plain, refer), ...more });
  return component === undefined ? describe() : refer(component, describe);
}

function showAll(schema: Json, refer: Refer): Json {
  const shown = Object.entries(schema).map(([keyword, value]) => show(keyword, value, refer));
  return Object.assign({}, ...shown) as Json;
}

function show(keyword: string, value: unknown, refer: Refer): Json {
  switch (keyword) {
    case 'properties':
      return { properties: jsonSchemas(value as Readonly<Record<string, object>>, refer) };
    case 'items':
    case 'contentSchema':
    case 'additionalProperties':
      return { [keyword]: typeof value === 'object' ? jsonSchema(value as object, refer) : value };
    case 'prefixItems':
      return { prefixItems: (value as readonly object[]).map((each) => jsonSchema(each, refer)) };
    case 'anyOf':
      return showChoice(value as readonly object[], refer);
    case 'patternProperties':
      return showMap(value as Readonly<Record<string, object>>, refer);
    default:
      return { [keyword]: value };
  }
}

/** Describes an `anyOf`. Alternatives that are all texts become one `enum`, which client generators understand. */
function showChoice(options: readonly object[], refer: Refer): Json {
  const texts = options.map((option) => (option as { const?: unknown }).const);
  if (texts.every((text) => typeof text === 'string')) return { type: 'string', enum: texts };
  return { anyOf: options.map((option) => jsonSchema(option, refer)) };
}

function jsonSchemas(schemas: Readonly<Record<string, object>>, refer: Refer): Json {
  return mapValues(schemas, (schema) => jsonSchema(schema, refer));
}

function showMap(patterns: Readonly<Record<string, object>>, refer: Refer): Json {
  const values = patterns[''];
  if (values === undefined) return { patternProperties: jsonSchemas(patterns, refer) };
  return { additionalProperties: jsonSchema(values, refer) };
}

/** Returns a reference to a component. Components exclude `null`, so a nullable reference adds `null`. */
function reference(target: Json, { type, description }: { type?: unknown; description?: string }): Json {
  const words = description === undefined ? {} : { description };
  const nullable = Array.isArray(type) && type.includes('null');
  return nullable ? { ...words, anyOf: [target, { type: 'null' }] } : { ...words, ...target };
}
