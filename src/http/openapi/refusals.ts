import { catalogue, type ErrorCode } from '../../errors.ts';
import { headerNamed } from './headers.ts';
import type { Json } from './json-schema.ts';
import { schemaNamed } from './named-schemas.ts';

/** Codes that an operation may refuse with, and for each the detail of an example. */
export type Refusals = Partial<Record<ErrorCode, string>>;

/** The schema of every refusal (RFC 9457). */
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

const retryAfter = { 'Retry-After': headerNamed('RetryAfter') };

function example(code: ErrorCode, detail: string): Json {
  const { status, title } = catalogue[code];
  return { type: 'about:blank', title, status, code, detail };
}

const failure = {
  description: 'The service failed, or something between it and you did.',
  content: { 'application/problem+json': { schema: schemaNamed('Problem') } },
};
