import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { parseTime } from '../../src/runtime/rfc3339.ts';

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
  readonly operationId: string;
  readonly parameters?: readonly { readonly name?: string; readonly example?: string }[];
  readonly security?: readonly object[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** An OpenAPI document with functions for tests. */
export interface OpenApi {
  /** All operations, by names such as `POST /path`. */
  readonly operations: ReadonlyMap<string, Operation>;
  listStatuses(name: string): number[];
  /** Returns the codes of the problems that an operation documents, with their examples. */
  listProblems(name: string): Map<string, unknown>;
  /** True if a value conforms to a schema in the document's components. */
  conforms(schema: string, value: unknown): boolean;
  requestValidator(name: string, type: string): ValidateFunction;
  /** Returns the validator of a response body for an operation, a status and a content type. */
  responseValidator(name: string, status: number, type: string): ValidateFunction;
}

export function readOpenApi(document: object): OpenApi {
  const { paths } = document as Document;
  const operations = new Map<string, Operation>(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    ),
  );
  const getResponses = (name: string) => operations.get(name)!.responses;
  const ajv = new Ajv2020({ strict: false, strictNumbers: true });
  ajv.addFormat('date-time', (text) => parseTime(text) !== undefined);
  ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
  ajv.addFormat('email', /^[^@]+@[^@]+$/);
  ajv.addFormat('password', true); // The format is a hint for forms, not a rule.
  ajv.addSchema(document, 'openapi');
  const validators = new Map<string, ValidateFunction>();

  /** Returns the validator for the schema at a place in the document, such as `['components', 'schemas', 'Packet']`. */
  function validatorAt(place: readonly string[]): ValidateFunction {
    const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).map(encodeURIComponent);
    const $ref = `openapi#/${pointer.join('/')}`;
    const validate = validators.get($ref) ?? ajv.compile({ $ref });
    validators.set($ref, validate);
    return validate;
  }

  return {
    operations,
    listStatuses(name) {
      const statuses = Object.keys(getResponses(name));
      return statuses.filter((status) => status !== 'default').map(Number);
    },
    listProblems(name) {
      const examples = Object.values(getResponses(name)).flatMap(({ content }) =>
        Object.entries(content?.['application/problem+json']?.examples ?? {}),
      );
      return new Map(examples.map(([code, { value }]) => [code, value]));
    },
    conforms: (schema, value) => validatorAt(['components', 'schemas', schema])(value) as boolean,
    requestValidator: (name, type) => validatorAt([...findPlace(name), 'requestBody', 'content', type, 'schema']),
    responseValidator: (name, status, type) =>
      validatorAt([...findPlace(name), 'responses', String(status), 'content', type, 'schema']),
  };
}

/** Returns the place of an operation in the document. */
function findPlace(name: string): string[] {
  const [method = '', path = ''] = name.split(' ');
  return ['paths', path, method.toLowerCase()];
}

export function brokenReferences(document: object): string[] {
  const references = JSON.stringify(document).match(/"\$ref":"#[^"]*"/g) ?? [];
  const pointers = references.map((reference) => reference.slice('"$ref":"#/'.length, -1));
  return [...new Set(pointers)].filter((pointer) => {
    const parts = pointer.split('/');
    return parts.reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document) === undefined;
  });
}

/** Returns the examples of responses that do not have the documented shape, and the number of all examples. */
export function checkExamples({ operations, responseValidator }: OpenApi): { wrong: string[]; seen: number } {
  const wrong: string[] = [];
  let seen = 0;
  for (const [name, { responses }] of operations) {
    for (const [status, { content = {} }] of Object.entries(responses)) {
      for (const [type, { example, examples = {} }] of Object.entries(content)) {
        const values = Object.values(examples).map(({ value }) => value);
        for (const value of example === undefined ? values : [...values, example]) {
          seen += 1;
          if (!responseValidator(name, Number(status), type)(value)) wrong.push(`${name} ${status}`);
        }
      }
    }
  }
  return { wrong, seen };
}
