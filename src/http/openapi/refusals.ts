import { type RefusalCode, refusals } from '../../contract/refusals.ts';
import type { Refusals } from '../endpoint.ts';
import { Components } from './components.ts';
import { RetryAfter } from './headers.ts';
import type { Json } from './json-schema.ts';

/** The schema of every refusal (RFC 9457). */
const Problem = {
  description: 'A refusal (RFC 9457). Programs should use `code`; `detail` is for people and may change.',
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'The meaning of the code; the same for every refusal with it.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    code: { type: 'string', description: 'A stable identifier of the error.' },
    detail: { type: 'string', description: 'The error in this request.' },
  },
} as const;

const problem = { component: 'Problem', ...Problem };

/**
 * The responses of an operation's refusals: one per status, with an example per code, and `default` for a failure.
 * @param headersOf headers of the operation by status
 */
export function refusalResponses(
  declared: Refusals,
  headersOf: (status: number) => Json = () => ({}),
  components = new Components(),
): Json {
  const byStatus = new Map<number, Json>();
  for (const [code, detail] of Object.entries(declared) as [RefusalCode, string][]) {
    const { status } = refusals[code];
    byStatus.set(status, { ...byStatus.get(status), [code]: { value: example(code, detail) } });
  }
  const wait = components.part('headers', RetryAfter);
  const responses = [...byStatus].map(([status, examples]) => [
    status,
    describeRefusal(
      status,
      examples,
      { ...headersOf(status), ...(mayWait(status) && { 'Retry-After': wait }) },
      components,
    ),
  ]);
  return { ...Object.fromEntries(responses), default: describeFailure(components) };
}

function describeRefusal(status: number, examples: Json, headers: Json, components: Components): Json {
  const codes = Object.keys(examples) as RefusalCode[];
  const properties = { status: { const: status }, code: { enum: codes } };
  const schema = { ...components.schema(problem), properties };
  return {
    description: `${codes.map((code) => refusals[code].title).join('. ')}.`,
    ...(Object.keys(headers).length > 0 && { headers }),
    content: { 'application/problem+json': { schema, examples } },
  };
}

function mayWait(status: number): boolean {
  return status === 429 || status === 503;
}

function example(code: RefusalCode, detail: string): Json {
  const { status, title } = refusals[code];
  return { type: 'about:blank', title, status, code, detail };
}

function describeFailure(components: Components): Json {
  return {
    description: 'The service or an intermediary failed.',
    content: { 'application/problem+json': { schema: components.schema(problem) } },
  };
}
