import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeText, parseJson, readBody } from './body.ts';
import { shapeError } from './shape-error.ts';
import type { Request } from './types.ts';

/** Maximum length of a JSON body in bytes, inflated. */
export const maxJsonBody = 65_536;

/**
 * Makes the reader of bodies of one shape.
 * @returns throws `invalid_body`, with a detail that names the field, and what `readBody`, `decodeText` and `parseJson` throw
 */
export function jsonBody<Schema extends TSchema>(
  schema: Schema,
): (request: Request) => Promise<Static<Schema>> {
  // Compiled with the first body, so that it does not delay the start.
  let compiled: ReturnType<typeof Compile> | undefined;
  return async (request) => {
    const value = parseJson(decodeText(await readBody(request, maxJsonBody)));
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return value as Static<Schema>;
    throw shapeError(compiled.Errors(value), { placeOf: (pointer) => `Field ${pointer.slice(1, 100)}` });
  };
}
