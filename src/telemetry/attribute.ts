import type { Instances } from '../identities/instances.ts';
import { isIdentity, type Person } from '../identities/person.ts';
import type { InstanceUse } from '../store/instances.ts';
import type { Application } from '../store/records.ts';
import type { Packet } from './packet.ts';

/** The user that a packet is attributed to, and what became of its instance id. */
export interface Attribution {
  readonly person: Person | undefined;
  /** Set when the expiry of the instance id moves. */
  readonly use: InstanceUse | undefined;
  /** The packet had an instance id that was unknown, expired or another application's. */
  readonly instanceDropped: boolean;
}

const unattributed: Attribution = { person: undefined, use: undefined, instanceDropped: false };

/**
 * Attributes a packet to the user of its instance id. Without a valid one, it is attributed to the identity that the client
 * asserts, if the application accepts such identities.
 * @param now Unix ms
 */
export function attribute(
  instances: Instances,
  { i, u }: Packet,
  application: Application,
  now: number,
): Attribution {
  if (i === undefined && u === undefined) return unattributed;
  const found = i === undefined ? undefined : instances.find(i, application.number, now);
  if (found !== undefined) return { ...found, instanceDropped: false };
  const asserted = u !== undefined && application.acceptClientIdentities && isIdentity(u);
  const person = asserted ? instances.personOf(application.number, u) : undefined;
  return { person, use: undefined, instanceDropped: i !== undefined };
}
