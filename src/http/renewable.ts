import type { HttpEngine, Listener, ListenOptions } from './types.ts';

/** A listener that can reload its TLS files while it listens. */
export interface RenewableListener extends Listener {
  /**
   * Opens another listener on the same address with the current files, then closes the previous one. It closes idle
   * connections, answers requests in flight, and cuts the rest after `graceMs`.
   * @throws {Error} if the files are not usable; nothing changes then
   */
  renew(graceMs: number): Promise<void>;
}

/** Opens a listener. Throws the errors of `HttpEngine.listen`. */
export async function listenRenewably(
  engine: HttpEngine,
  options: ListenOptions,
): Promise<RenewableListener> {
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
