import Type from 'typebox';
import type { Endpoint, Group } from './endpoint.ts';
import { RetryAfter } from './openapi/headers.ts';
import { count, jsonAnswer, text } from './schema.ts';

/** The answer of `/readyz`; `ready` decides its status. */
export interface Readiness {
  readonly ready: boolean;
  /** Why not, for people; empty when ready. */
  readonly reason: string;
  /** Commits since the start. */
  readonly commits: number;
}

const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
const access = { credential: 'None', who: 'Everybody' };

const alive: Endpoint<unknown> = {
  method: 'GET',
  path: '/healthz',
  access,
  operation: {
    operationId: 'isAlive',
    summary: 'Whether the process is alive',
    security: [],
    answers: {
      200: jsonAnswer(
        Type.Object({ status: Type.Literal('alive') }, { example: { status: 'alive' } }),
        'It is.',
      ),
    },
  },
  bind: () => () => ({ status: 200, headers, body: '{"status":"alive"}' }),
};

/** The schema of an answer of `/readyz`. @param reason of the example */
function readinessShape(status: 'ready' | 'unavailable', reason: string) {
  return Type.Object(
    {
      status: Type.Literal(status),
      reason: text('Why not, for people; empty when ready.'),
      commits: count('Commits since the start.'),
    },
    { example: { status, reason, commits: 0 } },
  );
}

const ready: Endpoint<() => Readiness> = {
  method: 'GET',
  path: '/readyz',
  access,
  operation: {
    operationId: 'isReady',
    summary: 'Whether the service accepts data',
    security: [],
    answers: {
      200: jsonAnswer(readinessShape('ready', ''), 'It does.'),
      503: jsonAnswer(
        readinessShape('unavailable', 'too much is waiting for the disk'),
        'Not now: the store cannot take data, or too much is waiting for the disk.',
        { 'Retry-After': RetryAfter },
      ),
    },
  },
  bind: (readinessNow) => () => {
    const { ready, ...rest } = readinessNow();
    const body = JSON.stringify({ status: ready ? 'ready' : 'unavailable', ...rest });
    return ready
      ? { status: 200, headers, body }
      : { status: 503, headers: { ...headers, 'retry-after': '5' }, body };
  },
};

/** `/healthz` and `/readyz`, which every listener has. */
export const health: Group<() => Readiness> = {
  tag: 'Operations',
  description: 'The service itself.',
  endpoints: [alive, ready],
};
