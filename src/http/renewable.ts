import type { Engine, Listener, ListenOptions } from './types.ts';

/** A listener that can read its TLS files again while it listens. */
export interface RenewableListener extends Listener {
  /**
   * Opens another listener on the same address with the files as they are now, then closes the one before: it closes idle
   * connections, answers requests in flight, and cuts those that are left after `graceMs`.
   * @throws {Error} when the files cannot be used; then nothing changes
   */
  renew(graceMs: number): Promise<void>;
}

/** Opens a listener. Throws what `Engine.listen` throws. */
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
