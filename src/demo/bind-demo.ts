import { loadEngine } from '../http/engines/runtime.ts';
import { systemClock } from '../runtime/clock.ts';
import { type Config, loadConfig } from '../runtime/config.ts';
import type { Log } from '../runtime/log.ts';
import { type BoundListeners, bindListeners } from '../serve/bound-listeners.ts';

/** The addresses that were asked for. */
export interface WantedAddresses {
  readonly listen: string | undefined;
  readonly grpcListen: string | undefined;
  readonly authUrl: string | undefined;
}

/** The listeners of a demo, and its settings. */
export interface BoundDemo {
  readonly config: Config;
  readonly bound: BoundListeners;
}

const usual = { listen: '127.0.0.1:8080', grpcListen: '127.0.0.1:8081' } as const;
const free = '127.0.0.1:0';

/**
 * Listens at the addresses that were asked for. Without any, a usual one that is taken is replaced by a free port, so that a
 * demo can run beside a server.
 * @throws {UsageError} for an address that is not valid, or that needs a public URL
 * @throws {Error} when an address cannot be used
 */
export async function bindDemo(
  { listen, grpcListen, authUrl }: WantedAddresses,
  data: string,
  log: Log,
): Promise<BoundDemo> {
  const engine = await loadEngine();
  const choices = [
    [listen ?? usual.listen, grpcListen ?? usual.grpcListen],
    [listen ?? usual.listen, grpcListen ?? free],
    [listen ?? free, grpcListen ?? free],
  ] as const;
  let failure: unknown;
  for (const [http, grpc] of choices) {
    const listening = ['--data', data, '--listen', http, '--grpc-listen', grpc];
    const argv = authUrl === undefined ? listening : [...listening, '--auth-url', authUrl];
    const config = loadConfig({ argv, env: {}, readFile: () => '' });
    try {
      return { config, bound: await bindListeners({ config, engine, clock: systemClock, log }) };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
