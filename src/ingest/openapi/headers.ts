/** Request headers that more than one operation reads: `components.parameters` of the document. */
export const requestHeaders = {
  ContentEncoding: {
    name: 'Content-Encoding',
    in: 'header',
    description: 'The body is compressed. The size limit is that of the inflated body.',
    schema: { enum: ['gzip', 'identity'] },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Names the message: whatever comes again under the same key for the same environment within 10 minutes is answered as accepted and not counted again, also across a restart. Pages cannot send it across origins.',
    schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
  },
  UserAgent: {
    name: 'User-Agent',
    in: 'header',
    description: 'Names the sender: its SDK and version.',
    schema: { type: 'string' },
  },
} as const;

/** Response headers that more than one operation sends: `components.headers` of the document. */
export const responseHeaders = {
  RetryAfter: {
    description: 'Seconds to wait before the next try; then back off exponentially.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  AllowOrigin: {
    description: 'The `Origin` of the request, where it is allowed; not there for a caller that sent none.',
    schema: { type: 'string' },
  },
  Vary: {
    description: '`Origin`, beside `Access-Control-Allow-Origin`.',
    schema: { const: 'Origin' },
  },
} as const;

/** A parameter of an operation, by its name above. */
export function requestHeader(name: keyof typeof requestHeaders) {
  return { $ref: `#/components/parameters/${name}` };
}

/** A header of a response, by its name above. */
export function responseHeader(name: keyof typeof responseHeaders) {
  return { $ref: `#/components/headers/${name}` };
}

/** Keys, and an instance id, in the examples: no application has them. */
export const exampleKeys = {
  Frontend: `fm_fe_${'0'.repeat(40)}`,
  Mobile: `fm_mo_${'0'.repeat(40)}`,
  Backend: `fm_be_${'0'.repeat(40)}`,
  instance: `fm_in_${'0'.repeat(72)}`,
} as const;
