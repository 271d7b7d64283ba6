import type { HttpEngine, Listener, ListenOptions } from './types.ts';

/** Serves TLS, and can reload its files while it listens. */
export interface Renewable {
  /** Prepares to use the current files. @throws {Error} if they are not usable; nothing changes then */
  reopen(): Promise<Renewal>;
}

/** Prepared, and either finished or undone. */
export interface Renewal {
  /** Uses the new files for all new connections. Those before it are closed as by `Listener.close`. */
  finish(graceMs: number): Promise<void>;
  undo(): Promise<void>;
}

export interface RenewableListener extends Listener, Renewable {}

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
    /** Until the renewal ends, connections reach both listeners. */
    async reopen() {
      const next = await engine.listen({ ...options, port, joins: true });
      return {
        async finish(graceMs) {
          const before = current;
          current = next;
          await before.close(graceMs);
        },
        undo: () => next.close(0),
      };
    },
    close: (graceMs) => current.close(graceMs),
  };
}

/** Prepares all or none. @throws {Error} that of one which cannot use the files */
export async function reopenAll(all: readonly Renewable[]): Promise<Renewal> {
  const outcomes = await Promise.allSettled(all.map((each) => each.reopen()));
  const renewals = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const renewal: Renewal = {
    async finish(graceMs) {
      await Promise.all(renewals.map((each) => each.finish(graceMs)));
    },
    async undo() {
      await Promise.all(renewals.map((each) => each.undo()));
    },
  };
  const failed = outcomes.find((each) => each.status === 'rejected');
  if (failed === undefined) return renewal;
  await renewal.undo();
  throw failed.reason;
}
