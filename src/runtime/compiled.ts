import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/**
 * Returns the checker of a schema. The checker is compiled on first use, because compilation takes up to a few
 * milliseconds and would delay startup.
 */
export function compiled<Schema extends TSchema>(schema: Schema): () => ReturnType<typeof compile<Schema>> {
  let checker: ReturnType<typeof compile<Schema>> | undefined;
  return () => {
    checker ??= compile(schema);
    return checker;
  };
}

const compile = <Schema extends TSchema>(schema: Schema) => Compile(schema);
