import { removeAllExposures } from '../store/exposures.ts';
import { removeAllIdentities } from '../store/instances.ts';
import { removeByPrefix } from '../store/key-prefix.ts';
import type { Deletion } from '../store/records.ts';
import type { UsageStore } from '../store/usage.ts';

/** A part of a step of upkeep: touches as many records as there is room for, and gives how many it touched. */
export type Chore = (room: number) => number;

/**
 * What it takes to remove all that is kept of something deleted. Nothing of it may be written any more: what is in a
 * worker's memory of it is not looked for. The ledger belongs to the application, and stays when only an environment goes;
 * the messages of the last minutes say of nobody whose they are, and go by themselves.
 */
export function erasures(
  store: UsageStore,
  { application, environments, whole }: Deletion,
): readonly Chore[] {
  const { counts, measurements, sketches, seen, series } = store;
  const ofEnvironments = environments.flatMap((environment): Chore[] => [
    ...[counts, measurements, sketches, seen, series].map(
      (table) => (room: number) => removeByPrefix(table, environment, room),
    ),
    (room) => removeAllExposures(store, environment, room),
  ]);
  if (!whole) return ofEnvironments;
  return [
    ...ofEnvironments,
    (room) => removeAllIdentities(store, application, room),
    (room) => removeByPrefix(store.ledger, application, room),
  ];
}
