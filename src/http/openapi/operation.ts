import type { DeclaredAnswer, Endpoint, Headers, Media, Operation, Parameter } from '../endpoint.ts';
import type { Components } from './components.ts';
import type { Json } from './json-schema.ts';
import { refusalResponses } from './refusals.ts';

/** The operation of an endpoint in the OpenAPI document. @param tag its group */
export function describeOperation(operation: Operation, tag: string, components: Components): Json {
  const { operationId, summary, description, security, parameters, body } = operation;
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(security !== undefined && { security }),
    ...(parameters !== undefined && { parameters: describeParameters(parameters, components) }),
    ...(body !== undefined && { requestBody: { required: true, content: mapMedia(body, components) } }),
    responses: describeResponses(operation, components),
  };
}

/** The path of an endpoint in OpenAPI syntax. */
export function templateOf({ path }: Pick<Endpoint, 'path'>): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function describeParameters(parameters: readonly Parameter[], components: Components): readonly Json[] {
  return parameters.map((parameter) => components.part('parameters', parameter));
}

function describeResponses({ answers, refuses, refusalHeaders }: Operation, components: Components): Json {
  const responses = Object.entries(answers).map(([status, answer]) => [
    status,
    describeAnswer(answer, components),
  ]);
  const refusals =
    refuses === undefined
      ? {}
      : refusalResponses(
          refuses,
          (status) => describeHeaders(refusalHeaders?.(status) ?? {}, components),
          components,
        );
  return { ...Object.fromEntries(responses), ...refusals };
}

function describeAnswer({ description, headers, content }: DeclaredAnswer, components: Components): Json {
  return {
    description,
    ...(Object.keys(headers).length > 0 && { headers: describeHeaders(headers, components) }),
    ...(content !== undefined && { content: mapMedia(content, components) }),
  };
}

function describeHeaders(headers: Headers, components: Components): Json {
  return mapValues(headers, (header) => components.part('headers', header));
}

function mapMedia(content: Readonly<Record<string, Media>>, components: Components): Json {
  return mapValues(content, ({ schema, ...examples }) => ({
    schema: components.schema(schema),
    ...examples,
  }));
}

function mapValues<T>(values: Readonly<Record<string, T>>, map: (value: T) => Json): Json {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
