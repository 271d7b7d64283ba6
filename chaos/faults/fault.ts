import type { Dice } from '../dice.ts';
import type { Journal } from '../journal.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import type { Database } from '../scene/database.ts';
import type { Scene } from '../scene/scene.ts';
import type { ServiceNode } from '../scene/service-node.ts';

/** The scene of a fault, and the node that it affects. */
export interface Stage {
  readonly scene: Scene;
  readonly round: Round;
  readonly dice: Dice;
  readonly journal: Journal;
  /** A node that no other fault of the round affects. */
  readonly node: ServiceNode;
}

export interface Fault {
  /** Exclusive resources: no two faults of a round share a resource. `node` is one of the nodes. */
  readonly claims: readonly ('node' | 'database' | 'links' | 'everything')[];
  /**
   * Relative frequency, 1 by default. A fault of frequency 0 is drawn only if `--only` names it, because nodes do not
   * pass it yet.
   */
  readonly weight?: number;
  /** Runs the fault. Also ends the fault, unless `Scene.makeWell` does. */
  run(stage: Stage): Promise<void>;
}

/** Returns the database of a scene. Faults of databases are drawn only for scenes with a database. */
export function requireDatabase({ scene: { database } }: Stage): Database {
  if (database === undefined) throw new Error('The scene has no database');
  return database;
}

/**
 * Waits for the duration of a fault, shorter or longer than a node waits for a response. If longer, the response
 * arrives too late.
 */
export function hold(dice: Dice): Promise<void> {
  return pause(dice.chance(0.5) ? dice.between(500, 4_000) : dice.between(5_500, 10_000));
}
