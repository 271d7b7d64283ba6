import Type from 'typebox';
import { boolean, count, list, text } from '../contract/shapes/fields.ts';
import { type Endpoint, type Group, jsonResponse, RetryAfter } from './endpoint.ts';

/** A capability of the service. */
export interface Ability {
  readonly ready: boolean;
  /** Human-readable reason if the service is not ready; empty if it is ready. */
  readonly reason: string;
}

/** Data of the `/readyz` response. Its status depends on `counting`, or on `managing` if the query names it. */
export interface Readiness {
  /** Ability to accept packets, reports and requests for instance ids. */
  readonly counting: Ability;
  /** Ability to sign users in, manage accounts and create reports. */
  readonly managing: Ability;
  /** Commit count since startup. */
  readonly commits: number;
  /** Human-readable problems that will stop the service unless someone acts, such as an almost full disk. */
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
    summary: 'Check that the process is alive',
    security: [],
    responses: {
      200: jsonResponse(
        Type.Object({ status: Type.Literal('alive') }, { example: { status: 'alive' } }),
        'The process is alive.',
      ),
    },
  },
  bind: () => () => ({ status: 200, headers, body: '{"status":"alive"}' }),
};

const Able = Type.Object({
  ready: boolean('True if available.'),
  reason: text('Reason for people if not available; empty if available.'),
});

function readinessShape(status: 'ready' | 'unavailable', reason: string) {
  const able = { ready: reason === '', reason };
  return Type.Object(
    {
      status: Type.Literal(status),
      reason: text('Reason for people if not ready; empty if ready.'),
      commits: count('Commits since startup.'),
      warnings: list(
        Type.String(),
        'Warnings, such as a disk with less than 10 % or 1 GiB left. They do not change the status.',
      ),
      counting: Type.Object(Able.properties, { description: 'Accepting packets and reports.' }),
      managing: Type.Object(Able.properties, { description: 'Signing in, managing accounts, and creating reports.' }),
    },
    { example: { status, reason, commits: 0, warnings: [], counting: able, managing: able } },
  );
}

const what = {
  name: 'for',
  in: 'query',
  description:
    'The capability to check. With `managing`, the status is 503 if the service cannot manage, even while it still counts.',
  schema: { enum: ['counting', 'managing'], default: 'counting' },
} as const;

const ready: Endpoint<() => Readiness> = {
  method: 'GET',
  path: '/readyz',
  access,
  operation: {
    operationId: 'isReady',
    summary: 'Check that the service accepts data',
    description:
      'In a cluster, a node that cannot reach PostgreSQL continues counting but cannot manage. The body reports both.',
    security: [],
    parameters: [what],
    responses: {
      200: jsonResponse(readinessShape('ready', ''), 'The service accepts data.'),
      503: jsonResponse(
        readinessShape('unavailable', 'too many messages are waiting for the disk'),
        'Not ready: the store is unavailable, or too many messages are waiting for the disk.',
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
    return ready ? { status: 200, headers, body } : { status: 503, headers: { ...headers, 'retry-after': '5' }, body };
  },
};

export const health: Group<() => Readiness> = {
  tag: 'Operations',
  description: 'Health of the service.',
  endpoints: [alive, ready],
};
