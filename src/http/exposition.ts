import { ApiError } from '../contract/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Group } from './endpoint.ts';
import { expositionText, expositionType, type ServiceMetric } from './exposition-text.ts';
import { problem } from './problem.ts';
import type { Request } from './types.ts';

export interface ExpositionDeps {
  readonly metrics: readonly ServiceMetric[];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Whether a request may read the metrics. */
  readonly mayRead: (request: Request) => boolean;
}

const headers = { 'content-type': expositionType, 'cache-control': 'no-store' };

const elsewhere = problem(
  new ApiError(
    'not_found',
    'On this listener, only clients on the same machine may read /metrics, without a proxy; --ops-listen opens a separate listener for it',
  ),
);

/** Lifetime of a cached text, ms. */
const freshMs = 1_000;

/** `GET /metrics`: the service's own metrics in Prometheus' text format. */
export const exposition: Group<ExpositionDeps> = {
  tag: 'Exposition',
  description: "The service's own metrics.",
  endpoints: [
    {
      method: 'GET',
      path: '/metrics',
      access: {
        credential: 'None',
        who: 'Everybody who reaches the listener of --ops-listen; without it, clients on the same machine at the base host',
      },
      bind({ metrics, clock, mayRead }) {
        const textNow = shared(() => expositionText(metrics), clock);
        return async (request) =>
          mayRead(request) ? { status: 200, headers, body: await textNow() } : elsewhere;
      },
    },
  ],
};

/** Builds a text at most once a second, and never twice at once. A failure is not cached. */
function shared(make: () => Promise<string>, clock: Pick<Clock, 'monotonic'>): () => Promise<string> {
  let text: Promise<string> | undefined;
  let madeAt = 0;
  return () => {
    if (text !== undefined && clock.monotonic() < madeAt + freshMs) return text;
    madeAt = clock.monotonic();
    const made = make();
    text = made;
    made.catch(() => {
      if (text === made) text = undefined;
    });
    return made;
  };
}
