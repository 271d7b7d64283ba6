import type { RootDatabase } from 'lmdb';

/** The oldest state of a store that a reader still uses. Pages freed since cannot be reused, so the file grows. */
export interface OldestReader {
  readonly transaction: number;
  /** Commits since that state. */
  readonly lag: number;
}

/** The oldest reader of an environment in any thread or process; `undefined` without readers. */
export function oldestReader(lmdb: RootDatabase<Buffer, Buffer>): OldestReader | undefined {
  // One line per reader: process, thread, and the transaction it reads, or a dash.
  const reading = [...lmdb.readerList().matchAll(/^ *\d+ +[0-9a-f]+ +(\d+)$/gm)];
  if (reading.length === 0) return undefined;
  const transaction = Math.min(...reading.map(([, number]) => Number(number)));
  const { env } = lmdb as unknown as { env: { info(): { lastTxnId: number } } };
  return { transaction, lag: Math.max(0, env.info().lastTxnId - transaction) };
}
