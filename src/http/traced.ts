import { inSpan, type Span } from '../runtime/spans.ts';
import type { Dispatch, Reply, Request } from './types.ts';

/** Traces sampled requests. Its methods must not throw. */
export interface RequestTraces {
  /** @returns `undefined` if the request is not sampled */
  begin(request: Request): RequestTrace | undefined;
}

export interface RequestTrace {
  readonly span: Span;
  /** @param route the route's pattern, because a path may name a person @returns the reply to send */
  end(route: string, reply: Reply): Reply;
}

/** Traces the answers of a dispatch. Not installed without tracing, so requests then cost nothing. */
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
