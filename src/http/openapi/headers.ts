/** A request header that every operation with a body reads: see `readBody`. */
export const contentEncoding = {
  name: 'Content-Encoding',
  in: 'header',
  description: 'The body is compressed. The size limit is that of the inflated body.',
  schema: { enum: ['gzip', 'identity'] },
} as const;

/** A response header of every 429 and 503. */
export const retryAfter = {
  description: 'Seconds to wait before the next try; then back off exponentially.',
  required: true,
  schema: { type: 'integer', minimum: 1 },
} as const;

/** A parameter of an operation, by its name in `components.parameters`. */
export function parameterNamed(name: string) {
  return { $ref: `#/components/parameters/${name}` } as const;
}

/** A header of a response, by its name in `components.headers`. */
export function headerNamed(name: string) {
  return { $ref: `#/components/headers/${name}` } as const;
}
