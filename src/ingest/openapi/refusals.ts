import { catalogue, type ErrorCode } from '../../errors.ts';
import type { Json } from './json-schema.ts';
import { schemaNamed } from './shared-schemas.ts';

/** Codes that an operation may refuse with, and for each the detail of an example. */
export type Refusals = Partial<Record<ErrorCode, string>>;

/** The schema of every refusal on this host (RFC 9457). */
export const Problem = {
  description: 'A refusal (RFC 9457). Decide by `code`: `detail` is for people and may change.',
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'What the code means; the same for every refusal with it.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    code: { type: 'string', description: 'A stable word for what is wrong.' },
    detail: { type: 'string', description: 'What is wrong with this one request.' },
  },
} as const;

/**
 * The responses of an operation that refuses: one a status, with an example a code, and `default` for a failure.
 * @param headersOf headers that the operation itself gives with a status
 */
export function refusalResponses(refusals: Refusals, headersOf: (status: number) => Json = () => ({})): Json {
  const byStatus = new Map<number, Json>();
  for (const [code, detail] of Object.entries(refusals) as [ErrorCode, string][]) {
    const { status } = catalogue[code];
    byStatus.set(status, { ...byStatus.get(status), [code]: { value: example(code, detail) } });
  }
  const responses = [...byStatus].map(([status, examples]) => [
    status,
    refusalResponse(status, examples, { ...headersOf(status), ...(mayWait(status) && retryAfter) }),
  ]);
  return { ...Object.fromEntries(responses), default: failure };
}

function refusalResponse(status: number, examples: Json, headers: Json): Json {
  const codes = Object.keys(examples) as ErrorCode[];
  const properties = { status: { const: status }, code: { enum: codes } };
  return {
    description: `${codes.map((code) => catalogue[code].title).join('. ')}.`,
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { 'application/problem+json': { schema: { ...schemaNamed('Problem'), properties }, examples } },
  };
}

function mayWait(status: number): boolean {
  return status === 429 || status === 503;
}

const retryAfter = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

function example(code: ErrorCode, detail: string): Json {
  const { status, title } = catalogue[code];
  return { type: 'about:blank', title, status, code, detail };
}

const failure = {
  description: 'The service failed, or something between it and you did. Nothing was counted.',
  content: { 'application/problem+json': { schema: schemaNamed('Problem') } },
};

/** What every operation that takes a body refuses it for. */
export const bodyRefusals = (maxBody: number) =>
  ({
    invalid_content_encoding: 'Send the body as it is, or as gzip',
    invalid_encoding: 'Send UTF-8',
    invalid_json: 'Send one JSON value',
    body_too_large: `A body may have ${maxBody} bytes at most`,
    rate_limited: 'The application sends more than its rate allows',
    backpressure: 'Too much is waiting for the disk',
    store_unavailable: 'The store cannot take data; see the log',
  }) as const satisfies Refusals;
