import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/**
 * The checker of what has a schema. It is compiled when it is first asked for: that takes up to some milliseconds, and the start of the
 * service needs none of them.
 */
export function compiled<Schema extends TSchema>(schema: Schema): () => ReturnType<typeof compile<Schema>> {
  let checker: ReturnType<typeof compile<Schema>> | undefined;
  return () => {
    checker ??= compile(schema);
    return checker;
  };
}

const compile = <Schema extends TSchema>(schema: Schema) => Compile(schema);
