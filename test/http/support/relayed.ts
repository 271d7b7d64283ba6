import { MessageChannel } from 'node:worker_threads';
import { Forwarder, Receiver } from '../../../src/http/relay/relay.ts';
import type { HttpEngine } from '../../../src/http/types.ts';

/** Returns an HTTP engine whose listeners forward every request, as a front-end thread does, but within this thread. */
export function relayed(engine: HttpEngine): HttpEngine {
  return {
    name: engine.name,
    async listen({ dispatch, findAddress, ...options }) {
      const { port1, port2 } = new MessageChannel();
      new Receiver(port1, { dispatch, ...(findAddress && { findAddress }) });
      const forwarder = new Forwarder(port2);
      const stop = () => {
        port1.close();
        port2.close();
      };
      try {
        const listener = await engine.listen({ ...options, dispatch: (request) => forwarder.forward(request) });
        return { ...listener, close: (graceMs) => listener.close(graceMs).finally(stop) };
      } catch (error) {
        stop();
        throw error;
      }
    },
  };
}
