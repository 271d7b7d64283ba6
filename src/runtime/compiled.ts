import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/**
 * Returns a function that compiles the checker of a schema on its first call. Compilation can take milliseconds, which
 * would delay startup.
 */
export function compiled<Schema extends TSchema>(schema: Schema): () => ReturnType<typeof compile<Schema>> {
  let checker: ReturnType<typeof compile<Schema>> | undefined;
  return () => {
    checker ??= compile(schema);
    return checker;
  };
}

const compile = <Schema extends TSchema>(schema: Schema) => Compile(schema);
