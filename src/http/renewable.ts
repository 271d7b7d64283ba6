import type { Engine, Listener, ListenOptions } from './types.ts';

/** A listener whose TLS files can be read again while it listens. */
export interface RenewableListener extends Listener {
  /**
   * Has another listener with what the files hold now take over the address; there is one at any time. What is under way is
   * answered; connections without a request are closed, after `graceMs` all others too.
   * @throws {Error} when the files cannot be used; the listener that is there stays
   */
  renew(graceMs: number): Promise<void>;
}

/** Opens a listener as the engine does. Throws as that does. */
export async function listenRenewably(engine: Engine, options: ListenOptions): Promise<RenewableListener> {
  let current = await engine.listen(options);
  const { host, port } = current;
  return {
    host,
    port,
    async renew(graceMs) {
      const next = await engine.listen({ ...options, port, takesOver: true });
      const before = current;
      current = next;
      await before.close(graceMs);
    },
    close: (graceMs) => current.close(graceMs),
  };
}
