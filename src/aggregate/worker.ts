import { workerData } from 'node:worker_threads';
import { openUsageStore } from '../store/usage.ts';
import { createAggregator } from './aggregator.ts';
import type { Envelope } from './envelope.ts';
import type { Maintenance } from './maintain.ts';

/** What a worker is started with. */
export interface WorkerStart {
  readonly data: string;
  /** People an environment whose exposures are kept. */
  readonly maxIdentities: number;
}

/** How a transaction ended: errors lose their code when they cross threads, so it travels as data. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: unknown; readonly message: string };

const { data, maxIdentities } = workerData as WorkerStart;
const store = openUsageStore(data);
const aggregator = createAggregator(store, maxIdentities);

/** Puts a batch on disk: see `Aggregator`. */
export function commit(envelope: Envelope): Outcome<void> {
  return outcomeOf(() => aggregator.commit(envelope));
}

/** Does one step of upkeep: see `Aggregator`. */
export function maintain(step: Maintenance): Outcome<number> {
  return outcomeOf(() => aggregator.maintain(step));
}

/** Closes the store; a worker must not be ended with LMDB open. */
export async function close(): Promise<void> {
  await store.environment.close();
}

function outcomeOf<T>(action: () => T): Outcome<T> {
  try {
    return { ok: true, value: action() };
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    return { ok: false, code, message };
  }
}
