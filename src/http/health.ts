import Type from 'typebox';
import type { Endpoint, Group } from './endpoint.ts';
import { RetryAfter } from './openapi/headers.ts';
import { count, flag, jsonAnswer, listOf, text } from './schema.ts';

/** One thing that the service does, and whether it can do it now. */
export interface Ability {
  readonly ready: boolean;
  /** Why not, for people; empty when ready. */
  readonly reason: string;
}

/** The answer of `/readyz`. Counting decides its status, unless the request asks for managing. */
export interface Readiness {
  /** Takes packets, reports and requests for instance ids. */
  readonly counting: Ability;
  /** Signs in, manages accounts and makes reports. */
  readonly managing: Ability;
  /** Commits since the start. */
  readonly commits: number;
  /** What will stop the service unless someone acts, such as a disk that is almost full; for people. */
  readonly warnings: readonly string[];
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

const Able = Type.Object({
  ready: flag('Whether it can.'),
  reason: text('Why not, for people; empty when it can.'),
});

/** The schema of an answer of `/readyz`. @param reason of the example */
function readinessShape(status: 'ready' | 'unavailable', reason: string) {
  const able = { ready: reason === '', reason };
  return Type.Object(
    {
      status: Type.Literal(status),
      reason: text('Why not, for people; empty when ready.'),
      commits: count('Commits since the start.'),
      warnings: listOf(
        Type.String(),
        'What needs attention, such as a disk with less than 10 % or 1 GiB left. It does not change the status.',
      ),
      counting: Type.Object(Able.properties, { description: 'Taking packets and reports.' }),
      managing: Type.Object(Able.properties, {
        description: 'Signing in, managing accounts, and making reports.',
      }),
    },
    { example: { status, reason, commits: 0, warnings: [], counting: able, managing: able } },
  );
}

const what = {
  name: 'for',
  in: 'query',
  description: 'What the caller needs: with `managing` the status is 503 also while the service only counts.',
  schema: { enum: ['counting', 'managing'], default: 'counting' },
} as const;

const ready: Endpoint<() => Readiness> = {
  method: 'GET',
  path: '/readyz',
  access,
  operation: {
    operationId: 'isReady',
    summary: 'Whether the service accepts data',
    description:
      'On several machines, a node that cannot reach the engine goes on counting and cannot manage: the body tells these apart.',
    security: [],
    parameters: [what],
    answers: {
      200: jsonAnswer(readinessShape('ready', ''), 'It does.'),
      503: jsonAnswer(
        readinessShape('unavailable', 'too much is waiting for the disk'),
        'Not now: the store cannot take data, or too much is waiting for the disk.',
        { 'Retry-After': RetryAfter },
      ),
    },
  },
  bind: (readinessNow) => (request) => {
    const { commits, counting, managing, warnings } = readinessNow();
    const asked = new URLSearchParams(request.query).get('for') === 'managing' ? managing : counting;
    const { ready, reason } = counting.ready ? asked : counting;
    const status = ready ? 'ready' : 'unavailable';
    const body = JSON.stringify({ status, reason, commits, warnings, counting, managing });
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
