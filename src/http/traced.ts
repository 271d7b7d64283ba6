import { inSpan, type Span } from '../runtime/spans.ts';
import type { Dispatch, Reply, Request } from './types.ts';

/** Traces some requests. None of this may throw. */
export interface RequestTraces {
  /** @returns `undefined` for a request that is not traced */
  begin(request: Request): RequestTrace | undefined;
}

/** One request that is traced. */
export interface RequestTrace {
  readonly span: Span;
  /** @param route the route's pattern: a path may name a person @returns the reply that is sent */
  end(route: string, reply: Reply): Reply;
}

/** Traces what a dispatch answers. Without traces there is none of this, so a request costs nothing then. */
export function traced(
  dispatch: Dispatch,
  traces: RequestTraces,
  routeOf: (request: Request) => string,
): Dispatch {
  return (request) => {
    const trace = traces.begin(request);
    if (trace === undefined) return dispatch(request);
    const reply = inSpan(trace.span, () => dispatch(request));
    if (!(reply instanceof Promise)) return trace.end(routeOf(request), reply);
    return reply.then((late) => trace.end(routeOf(request), late));
  };
}
