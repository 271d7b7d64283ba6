import type { Dice } from '../dice.ts';
import type { Journal } from '../journal.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import type { Database } from '../scene/database.ts';
import type { Scene } from '../scene/scene.ts';
import type { ServiceNode } from '../scene/service-node.ts';

/** Where a fault happens. */
export interface Stage {
  readonly scene: Scene;
  readonly round: Round;
  readonly dice: Dice;
  readonly journal: Journal;
  /** A node that no other fault of the round touches. */
  readonly node: ServiceNode;
}

/** What goes wrong. */
export interface Fault {
  /** What it needs for itself: no two faults of a round share it. `node`: one of the nodes. */
  readonly claims: readonly ('node' | 'database' | 'links' | 'everything')[];
  /** How often it is drawn beside the others; 1 without it. With 0 it is drawn only if `--only` names it: its rule does not hold yet. */
  readonly weight?: number;
  /** Lets it happen, and ends it as far as the scene does not. */
  run(stage: Stage): Promise<void>;
}

/** The database of a scene that has one: faults of databases are drawn for such scenes only. */
export function databaseOf({ scene: { database } }: Stage): Database {
  if (database === undefined) throw new Error('The scene has no database');
  return database;
}

/**
 * Waits while a fault lasts: shorter than a node waits for an answer, or longer, so that it has given up when the answer comes
 * after all.
 */
export function hold(dice: Dice): Promise<void> {
  return pause(dice.chance(0.5) ? dice.between(500, 4_000) : dice.between(5_500, 10_000));
}
