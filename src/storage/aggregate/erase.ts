import { removeAllExposures } from '../lmdb/exposures.ts';
import { removeAllIdentities } from '../lmdb/instances.ts';
import { removeByPrefix } from '../lmdb/key-prefix.ts';
import type { Deletion } from '../lmdb/records.ts';
import type { UsageStore } from '../lmdb/usage.ts';

/** A part of an upkeep step. It touches at most `room` records. @returns records touched */
export type Chore = (room: number) => number;

/**
 * The chores that remove all data of a deleted application or environment. Nothing may write to it any more, because the memory
 * of workers is not searched for it. The ledger belongs to the application, so deleting an environment keeps it. The messages
 * of the last minutes contain no personal data and expire.
 */
export function erasures(
  store: UsageStore,
  { application, environments, whole }: Deletion,
): readonly Chore[] {
  const { counts, carried, measurements, sketches, seen, senders, series } = store;
  const inEnvironments = environments.flatMap((environment): Chore[] => [
    ...[counts, carried, measurements, sketches, seen, senders, series].map(
      (table) => (room: number) => removeByPrefix(table, environment, room),
    ),
    (room) => removeAllExposures(store, environment, room),
  ]);
  if (!whole) return inEnvironments;
  return [
    ...inEnvironments,
    (room) => removeAllIdentities(store, application, room),
    (room) => removeByPrefix(store.ledger, application, room),
  ];
}
