import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/**
 * The compiled checker of a schema. It is compiled on first use, which takes up to a few milliseconds and would delay startup.
 */
export function compiled<Schema extends TSchema>(schema: Schema): () => ReturnType<typeof compile<Schema>> {
  let checker: ReturnType<typeof compile<Schema>> | undefined;
  return () => {
    checker ??= compile(schema);
    return checker;
  };
}

const compile = <Schema extends TSchema>(schema: Schema) => Compile(schema);
