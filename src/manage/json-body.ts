import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Refusal } from '../errors.ts';
import { decodeText, parseJson, readBody } from '../http/body.ts';
import type { Request } from '../http/types.ts';

const longestBody = 65_536;

/** Reads a request's JSON body and checks it. @throws {Refusal} as `jsonBody` says */
export type ReadJson<Schema extends TSchema> = (request: Request) => Promise<Static<Schema>>;

type ValidationError = ReturnType<ReturnType<typeof Compile>['Errors']>[number];

/**
 * Makes the reader of bodies of one shape.
 * Its refusals: `invalid_body`, with a detail that names the field; `body_too_large`, `invalid_encoding`,
 * `invalid_content_encoding`, `invalid_json`.
 */
export function jsonBody<Schema extends TSchema>(schema: Schema): ReadJson<Schema> {
  const checker = Compile(schema);
  return async (request) => {
    const value = parseJson(decodeText(await readBody(request, longestBody)));
    if (checker.Check(value)) return value as Static<Schema>;
    throw new Refusal('invalid_body', explain(checker.Errors(value)));
  };
}

/** Says what is wrong with the first field that is. Repeats the field's name, but not its value. */
function explain(errors: readonly ValidationError[]): string {
  const field = errors[0]?.instancePath ?? '';
  const same = errors.filter(({ instancePath, keyword }) => instancePath === field && keyword !== 'anyOf');
  const musts = new Set(same.map(must));
  const name = field === '' ? 'The body' : `Field ${field.slice(1, 100)}`;
  return `${name} ${[...musts].join(' or ')}`;
}

function must(error: ValidationError): string {
  if (error.keyword === 'boolean') return 'is not known here';
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params.allowedValue)}`;
  return error.message;
}
