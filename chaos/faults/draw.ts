import type { Dice } from '../dice.ts';
import type { Scene } from '../scene/scene.ts';
import type { ServiceNode } from '../scene/service-node.ts';
import type { Fault } from './fault.ts';
import { faultsOfClocks } from './of-clocks.ts';
import { faultsOfDatabases } from './of-databases.ts';
import { faultsOfDirectories } from './of-directories.ts';
import { faultsOfDisks } from './of-disks.ts';
import { faultsOfNetworks } from './of-networks.ts';
import { faultsOfNodes } from './of-nodes.ts';
import { faultsOfOperators } from './of-operators.ts';

const { kill, restart, freeze } = faultsOfNodes;
const { clockSkewed } = faultsOfClocks;
const { diskFull } = faultsOfDisks;
/** Faults of a single machine without PostgreSQL. */
const ofOneNode = new Map<string, Fault>(Object.entries({ kill, restart, freeze, clockSkewed, diskFull }));
/** All faults, by name. */
export const faults: ReadonlyMap<string, Fault> = new Map<string, Fault>(
  Object.entries({
    ...faultsOfNodes,
    ...faultsOfClocks,
    ...faultsOfDisks,
    ...faultsOfNetworks,
    ...faultsOfDatabases,
    ...faultsOfDirectories,
    ...faultsOfOperators,
  }),
);

/** A fault that a round injects, and the node that it affects. */
export interface RoundFault {
  readonly name: string;
  readonly fault: Fault;
  readonly node: ServiceNode;
}

/**
 * Draws up to three faults that can happen at the same time.
 * @param only names of the faults to draw from; empty for all faults
 */
export function drawFaults(scene: Scene, dice: Dice, only: readonly string[]): RoundFault[] {
  const all = scene.database === undefined ? ofOneNode : faults;
  const choices = [...all].filter(([name]) => only.length === 0 || only.includes(name));
  const least = only.length === 0 ? 0 : 1;
  const tickets = choices.flatMap((choice) =>
    Array.from({ length: Math.max(least, choice[1].weight ?? 1) }, () => choice),
  );
  const nodes = dice.shuffled(scene.nodes);
  const claimed = new Set<string>();
  const drawn: RoundFault[] = [];
  for (let count = dice.between(1, 3); count > 0; count--) {
    const [name, fault] = dice.pick(tickets);
    const { claims } = fault;
    const isAlone = claims.includes('everything');
    if (claimed.has('everything') || (isAlone && drawn.length > 0)) break;
    const node = claims.includes('node') || isAlone ? nodes.pop() : (nodes[0] ?? scene.nodes[0]);
    if (node === undefined || claims.some((claim) => claim !== 'node' && claimed.has(claim))) continue;
    for (const claim of claims) claimed.add(claim);
    drawn.push({ name, fault, node });
  }
  return drawn;
}
