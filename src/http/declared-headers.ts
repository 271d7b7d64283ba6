import type { Header, Headers, Parameter } from './endpoint.ts';

/** A request header of every operation with a body: see `readBody`. */
export const ContentEncoding: Parameter = {
  component: 'ContentEncoding',
  name: 'Content-Encoding',
  in: 'header',
  description: 'Compression of the body. The size limit applies to the decompressed body.',
  schema: { enum: ['gzip', 'identity'] },
};

export const RetryAfter: Header = {
  component: 'RetryAfter',
  description: 'Seconds to wait before the next attempt. After that, back off exponentially.',
  required: true,
  schema: { type: 'integer', minimum: 1 },
};

/** For answers that belong to one caller. */
export const NotCached = {
  component: 'NotCached',
  description: 'The answer belongs to one caller and must not be cached.',
  required: true,
  schema: { const: 'no-store' },
} as const satisfies Header;

export const Location = {
  component: 'Location',
  description: 'Its location.',
  required: true,
  schema: { type: 'string' },
} as const satisfies Header;

/** The challenge of a 401 to a request that needs an access token. */
export const Challenge = {
  component: 'Challenge',
  description: 'Contains an error only if the request had a token (RFC 6750 §3).',
  required: true,
  schema: {
    type: 'string',
    pattern: '^Bearer(?: error="invalid_token"(?:, error_description="[^"]*")?)?$',
  },
} as const satisfies Header;

/** For cacheable answers that pages of any origin may read. */
export const PublicHeaders = {
  'Access-Control-Allow-Origin': { required: true, schema: { const: '*' } },
  'Cache-Control': { required: true, schema: { type: 'string' } },
} as const satisfies Headers;

/** For answers of `publicJson`. */
export const TaggedHeaders: Headers = {
  ...PublicHeaders,
  ETag: { required: true, schema: { type: 'string' } },
};
