import type { RootDatabase } from 'lmdb';

/** The oldest state of a store that is still read from: no page that was freed since is used again, so the file grows. */
export interface OldestReader {
  readonly transaction: number;
  /** Commits since. */
  readonly lag: number;
}

/** The oldest reader of an environment, of whatever thread or process; `undefined` when none reads. */
export function oldestReader(lmdb: RootDatabase<Buffer, Buffer>): OldestReader | undefined {
  // A line each: process, thread, and the transaction that it reads from, or a dash.
  const reading = [...lmdb.readerList().matchAll(/^ *\d+ +[0-9a-f]+ +(\d+)$/gm)];
  if (reading.length === 0) return undefined;
  const transaction = Math.min(...reading.map(([, number]) => Number(number)));
  const { env } = lmdb as unknown as { env: { info(): { lastTxnId: number } } };
  return { transaction, lag: Math.max(0, env.info().lastTxnId - transaction) };
}
