/** A character class of anything but control characters. */
export const printable = '[^\\u0000-\\u001f\\u007f-\\u009f]';

/**
 * Schemas that the OpenAPI documents name, because the checkers ask more of a text than a JSON Schema of one keyword
 * says. A TypeBox schema points to one by the option `documented`, which the checkers do not look at.
 */
export const namedSchemas = {
  Name: {
    description: 'A name: 1 to 256 bytes of UTF-8, well-formed and without control characters.',
    type: 'string',
    minLength: 1,
    maxLength: 256,
    pattern: `^${printable}+$`,
    examples: ['checkout'],
  },
  Time: {
    description: 'A time in the form of RFC 3339, with any offset from UTC.',
    type: 'string',
    format: 'date-time',
    examples: ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00.5+01:00'],
  },
} as const;

/** Where a document has one of its named schemas. */
export function schemaNamed<Name extends string>(name: Name) {
  return { $ref: `#/components/schemas/${name}` } as const;
}

/** Options of a TypeBox schema whose values are names. */
export const named = { documented: schemaNamed('Name') };
/** Options of a TypeBox schema whose values are RFC 3339 times. */
export const timed = { documented: schemaNamed('Time') };
