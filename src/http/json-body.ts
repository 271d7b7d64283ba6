import type { Static, TSchema } from 'typebox';
import { compiled } from '../runtime/compiled.ts';
import { decodeText, parseJson, readBody } from './body.ts';
import { shapeError } from './shape-error.ts';
import type { Request } from './types.ts';

/** Usual maximum decompressed length of a JSON body in bytes. */
export const maxJsonBody = 65_536;

interface JsonBodyOptions {
  /** Maximum decompressed length in bytes. */
  readonly limit?: number | undefined;
  /** Whether an empty body is read as `{}`. */
  readonly optional?: boolean | undefined;
}

/**
 * Creates the reader of bodies of one shape.
 * @returns throws `invalid_body`, with a detail that names the field, and the errors of `readBody`, `decodeText` and `parseJson`
 */
export function jsonBody<Schema extends TSchema>(
  schema: Schema,
  { limit = maxJsonBody, optional = false }: JsonBodyOptions = {},
): (request: Request) => Promise<Static<Schema>> {
  const checker = compiled(schema);
  return async (request) => {
    const text = decodeText(await readBody(request, limit));
    const value = optional && text === '' ? {} : parseJson(text);
    if (checker().Check(value)) return value as Static<Schema>;
    throw shapeError(checker().Errors(value), { placeOf: (pointer) => `Field ${pointer.slice(1, 100)}` });
  };
}
