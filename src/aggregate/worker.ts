import { workerData } from 'node:worker_threads';
import { openUsageStore } from '../store/usage.ts';
import { createCommit } from './commit.ts';
import type { Envelope } from './envelope.ts';

/** What a worker is started with. */
export interface WorkerStart {
  readonly data: string;
}

/** How a commit ended: errors lose their code when they cross threads, so it travels as data. */
export type CommitResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: unknown; readonly message: string };

const store = openUsageStore((workerData as WorkerStart).data);
const commitBatch = createCommit(store);

/** Puts a batch on disk: see `createCommit`. */
export function commit(envelope: Envelope): CommitResult {
  try {
    commitBatch(envelope);
    return { ok: true };
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    return { ok: false, code, message };
  }
}

/** Closes the store; a worker must not be ended with LMDB open. */
export async function close(): Promise<void> {
  await store.environment.close();
}
