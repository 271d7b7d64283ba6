import { contentEncoding, retryAfter } from '../http/openapi/headers.ts';

/** Request headers that more than one operation reads: `components.parameters` of the document. */
export const requestHeaders = {
  ContentEncoding: contentEncoding,
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Names the message: whatever the same application key sends again under this name, for the same environment, within 10 minutes is answered as accepted and not counted again, also across a restart. Without it a report counts each time, unless it has a `processStartTime` and a `time` finer than a second: then a second one with the same content is taken for a repetition. Pages cannot send it across origins.',
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
  RetryAfter: retryAfter,
  AllowOrigin: {
    description: 'The `Origin` of the request, where it is allowed; not there for a caller that sent none.',
    schema: { type: 'string' },
  },
  Vary: {
    description: '`Origin`, beside `Access-Control-Allow-Origin`.',
    schema: { const: 'Origin' },
  },
} as const;

/** Keys, and an instance id, in the examples: no application has them. */
export const exampleKeys = {
  Frontend: `fm_fe_${'0'.repeat(40)}`,
  Mobile: `fm_mo_${'0'.repeat(40)}`,
  Backend: `fm_be_${'0'.repeat(40)}`,
  instance: `fm_in_${'0'.repeat(72)}`,
} as const;
