import type { Engine } from '../engine/engine.ts';

/** Counts the tokens that were issued and invalidated since the start. */
export class TokenTally {
  /** Access tokens, by the grant that they were issued for. */
  readonly issued = new Map<string, number>();
  /** Access tokens that got on the invalidation list; with an engine, on any node. */
  invalidated = 0;

  countIssued(grant: string): void {
    this.issued.set(grant, (this.issued.get(grant) ?? 0) + 1);
  }

  /** Counts from now on what gets on the invalidation list. */
  watch(engine: Pick<Engine, 'onCommit'>): void {
    engine.onCommit((writes) => {
      for (const { table, value } of writes)
        if (table === 'invalidated' && value !== undefined) this.invalidated += 1;
    });
  }
}
