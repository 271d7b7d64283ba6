import type { Header, Headers, Parameter } from '../endpoint.ts';

/** Headers that the endpoints of several hosts declare. */

/** A request header that every operation with a body reads: see `readBody`. */
export const ContentEncoding: Parameter = {
  component: 'ContentEncoding',
  name: 'Content-Encoding',
  in: 'header',
  description: 'The body is compressed. The size limit is that of the inflated body.',
  schema: { enum: ['gzip', 'identity'] },
};

/** A response header of every 429 and 503. */
export const RetryAfter: Header = {
  component: 'RetryAfter',
  description: 'Seconds to wait before the next attempt; then back off exponentially.',
  required: true,
  schema: { type: 'integer', minimum: 1 },
};

/** Of an answer that belongs to one caller. */
export const NotCached = {
  component: 'NotCached',
  description: 'No cache may keep what belongs to one caller.',
  required: true,
  schema: { const: 'no-store' },
} as const satisfies Header;

/** Where something that was created is. */
export const Location = {
  component: 'Location',
  description: 'Where it is.',
  required: true,
  schema: { type: 'string' },
} as const satisfies Header;

/** The challenge of a 401 to a request that takes an access token. */
export const Challenge = {
  component: 'Challenge',
  description: 'Names an error only if the request had a token (RFC 6750 §3).',
  required: true,
  schema: {
    type: 'string',
    pattern: '^Bearer(?: error="invalid_token"(?:, error_description="[^"]*")?)?$',
  },
} as const satisfies Header;

/** Of an answer that pages of any origin may read, and that caches keep. */
export const PublicHeaders = {
  'Access-Control-Allow-Origin': { required: true, schema: { const: '*' } },
  'Cache-Control': { required: true, schema: { type: 'string' } },
} as const satisfies Headers;

/** Of an answer of `publicJson`. */
export const TaggedHeaders: Headers = {
  ...PublicHeaders,
  ETag: { required: true, schema: { type: 'string' } },
};
