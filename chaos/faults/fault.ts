import type { Dice } from '../dice.ts';
import type { Journal } from '../journal.ts';
import { pause } from '../pause.ts';
import type { Round } from '../round.ts';
import type { Database } from '../scene/database.ts';
import type { Scene } from '../scene/scene.ts';
import type { ServiceNode } from '../scene/service-node.ts';

/** Targets of a fault: the scene, the round, and a node. */
export interface Stage {
  readonly scene: Scene;
  readonly round: Round;
  readonly dice: Dice;
  readonly journal: Journal;
  /** A node that no other fault of the round affects. */
  readonly node: ServiceNode;
}

export interface Fault {
  /** Resources that no other fault of the round may use. `node` stands for the affected node. */
  readonly claims: readonly ('node' | 'database' | 'links' | 'everything')[];
  /**
   * Relative frequency of the fault, 1 by default. A fault with frequency 0 is drawn only with `--only`, because nodes
   * do not pass it yet.
   */
  readonly weight?: number;
  /** Injects the fault. Also ends it, unless `Scene.makeWell` does. */
  run(stage: Stage): Promise<void>;
}

/** Returns the database of a scene. Faults of databases are drawn only if the scene has a database. */
export function requireDatabase({ scene: { database } }: Stage): Database {
  if (database === undefined) throw new Error('The scene has no database');
  return database;
}

/**
 * Waits for the duration of a fault. The duration is shorter or longer than the time that a node waits for a response.
 * If it is longer, the response arrives too late.
 */
export function hold(dice: Dice): Promise<void> {
  return pause(dice.chance(0.5) ? dice.between(500, 4_000) : dice.between(5_500, 10_000));
}
