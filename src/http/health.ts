import type { Route } from './types.ts';

/** The answer of `/readyz`; `ready` decides its status. */
export interface Readiness {
  readonly ready: boolean;
  /** Why not, for people; empty when ready. */
  readonly reason: string;
  /** Commits since the start. */
  readonly commits: number;
}

/** `GET /healthz`: the process is alive. `GET /readyz`: it accepts data. Every listener has both. */
export function healthRoutes(readiness: () => Readiness): readonly Route[] {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return [
    {
      method: 'GET',
      path: '/healthz',
      handle: () => ({ status: 200, headers, body: '{"status":"alive"}' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      handle: () => {
        const { ready, ...rest } = readiness();
        const body = JSON.stringify({ status: ready ? 'ready' : 'unavailable', ...rest });
        return ready
          ? { status: 200, headers, body }
          : { status: 503, headers: { ...headers, 'retry-after': '5' }, body };
      },
    },
  ];
}
