import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { ApiError } from '../errors.ts';
import { decodeText, parseJson, readBody } from './body.ts';
import type { Request } from './types.ts';

/** Most bytes of a JSON body, inflated. */
export const maxJsonBody = 65_536;

/** Reads a request's JSON body and checks it. @throws {ApiError} as `jsonBody` says */
export type ReadJson<Schema extends TSchema> = (request: Request) => Promise<Static<Schema>>;

type ValidationError = ReturnType<ReturnType<typeof Compile>['Errors']>[number];

/**
 * Makes the reader of bodies of one shape.
 * Its refusals: `invalid_body`, with a detail that names the field; `body_too_large`, `invalid_encoding`,
 * `invalid_content_encoding`, `invalid_json`.
 */
export function jsonBody<Schema extends TSchema>(schema: Schema): ReadJson<Schema> {
  // Compiled with the first body: at the start there is no time for what may never come.
  let compiled: ReturnType<typeof Compile> | undefined;
  return async (request) => {
    const value = parseJson(decodeText(await readBody(request, maxJsonBody)));
    compiled ??= Compile(schema);
    const checker = compiled;
    if (checker.Check(value)) return value as Static<Schema>;
    throw new ApiError('invalid_body', explain(checker.Errors(value)));
  };
}

/**
 * Says what is wrong with the first field that is; one that is not known comes first, for it may be a slip of the pen
 * for one that is missing. Repeats the field's name, but not its value.
 */
function explain(errors: readonly ValidationError[]): string {
  const [first] = errors.toSorted((a, b) => Number(isUnknown(b)) - Number(isUnknown(a)));
  const field = first?.instancePath ?? '';
  const same = errors.filter(
    ({ instancePath, keyword }) => instancePath === field && !summaries.has(keyword),
  );
  const musts = new Set(same.map(must));
  const name = field === '' ? 'The body' : `Field ${field.slice(1, 100)}`;
  return `${name} ${[...musts].join(' or ')}`;
}

/** What only sums up the errors of its parts. */
const summaries = new Set(['anyOf', 'additionalProperties']);

/** A field that is not known has its own schema, which takes nothing: `false`. */
function isUnknown({ keyword }: ValidationError): boolean {
  return keyword === 'boolean';
}

function must(error: ValidationError): string {
  if (isUnknown(error)) return 'is not known here';
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params.allowedValue)}`;
  return error.message;
}
