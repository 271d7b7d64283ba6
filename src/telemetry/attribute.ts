import type { Instances } from '../identities/instances.ts';
import { isIdentity, type Person } from '../identities/person.ts';
import type { InstanceUse } from '../store/instances.ts';
import type { Application } from '../store/records.ts';
import type { Packet } from './packet.ts';

/** Whom a packet is attributed to, and what came of its instance id. */
export interface Attribution {
  readonly person: Person | undefined;
  /** Set when the instance id is to live longer. */
  readonly use: InstanceUse | undefined;
  /** The packet had an instance id that was unknown, expired or another application's. */
  readonly instanceDropped: boolean;
}

const nobody: Attribution = { person: undefined, use: undefined, instanceDropped: false };

/**
 * Attributes a packet: to whom its instance id was minted for, else to the identity that the client asserts, as far as the
 * application takes such.
 * @param now Unix ms
 */
export function attribute(
  instances: Instances,
  { i, u }: Packet,
  application: Application,
  now: number,
): Attribution {
  if (i === undefined && u === undefined) return nobody;
  const found = i === undefined ? undefined : instances.find(i, application.number, now);
  if (found !== undefined) return { ...found, instanceDropped: false };
  const asserted = u !== undefined && application.acceptClientIdentities && isIdentity(u);
  const person = asserted ? instances.personOf(application.number, u) : undefined;
  return { person, use: undefined, instanceDropped: i !== undefined };
}
