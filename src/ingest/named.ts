import Type, { type Static } from 'typebox';

/**
 * A map from any name to one kind of value. The pattern is empty because TypeBox's own record pattern, `^.*$`, does not match
 * names with line separators. Their values would pass unchecked.
 */
export function Named<T extends Type.TSchema>(value: T, options: Type.TObjectOptions = {}) {
  return Type.Unsafe<Readonly<Record<string, Static<T>>>>({
    type: 'object',
    patternProperties: { '': value },
    ...options,
  });
}
