import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { uwsEngine } from '../../../src/http/engines/uws.ts';
import type { ListenOptions } from '../../../src/http/types.ts';
import { testDispatch } from './routes.ts';

export interface RunningServer {
  readonly port: number;
  /** Resolves when `POST /shut-down` has done its work. */
  readonly closed: Promise<void>;
  stop(): Promise<void>;
}

export type ServerOptions = Partial<Omit<ListenOptions, 'dispatch'>>;

/** Starts the test routes on an engine. Rejects with the engine's own message when it cannot listen. */
export type StartServer = (options?: ServerOptions) => Promise<RunningServer>;

const local = { host: '127.0.0.1', port: 0 };

/** uWebSockets.js, in this process. */
export const startUws: StartServer = async (options) => {
  let finish = () => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const dispatch = testDispatch((graceMs) => void listener.close(graceMs).then(finish));
  const listener = await uwsEngine.listen({ ...local, ...options, dispatch });
  return { port: listener.port, closed, stop: () => listener.close(0) };
};

const bun = fileURLToPath(new URL('../../../node_modules/.bin/bun', import.meta.url));
const script = fileURLToPath(new URL('./bun-server.ts', import.meta.url));

/** Bun, in a process of its own. */
export const startBun: StartServer = async (options) => {
  const child = spawn(bun, [script, JSON.stringify({ ...local, ...options })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '{"error":"the process ended"}');
  const { port, error } = await next();
  if (error !== undefined) throw new Error(error);
  const closed = next().then(() => exited.then(() => {}));
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { port, closed, stop };
};
