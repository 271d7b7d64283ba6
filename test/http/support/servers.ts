import type { HttpEngine, ListenOptions } from '../../../src/http/types.ts';
import { testDispatch } from './routes.ts';

export interface RunningServer {
  readonly port: number;
  /** Resolves when `POST /shut-down` has finished. */
  readonly closed: Promise<void>;
  stop(): Promise<void>;
}

export type ServerOptions = Partial<Omit<ListenOptions, 'dispatch'>>;

/** Serves the test routes with an HTTP engine. Rejects with the engine's error if it cannot listen. */
export type StartServer = (options?: ServerOptions) => Promise<RunningServer>;

export function startWith(engine: HttpEngine): StartServer {
  return async (options) => {
    let finish = () => {};
    const closed = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const dispatch = testDispatch((graceMs) => void listener.close(graceMs).then(finish));
    const busyPaths = ['/echo', '/describe'];
    const listener = await engine.listen({ host: '127.0.0.1', port: 0, busyPaths, ...options, dispatch });
    return { port: listener.port, closed, stop: () => listener.close(0) };
  };
}
