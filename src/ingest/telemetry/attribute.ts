import type { UnresolvedUse } from '../../storage/commit/envelope.ts';
import type { InstanceUse } from '../../storage/lmdb/instances.ts';
import type { Application } from '../../storage/lmdb/records.ts';
import type { Instances } from '../identities/instances.ts';
import { isIdentity, type Person } from '../identities/person.ts';
import type { Packet } from './packet.ts';

/** The user that a packet is attributed to, and the outcome for its instance id. */
export interface Attribution {
  readonly person: Person | undefined;
  /** Set if the expiry of the instance id is extended. */
  readonly use: InstanceUse | undefined;
  /** Set if the instance id may become known later. The packet is attributed then, with rows still to be added. */
  readonly unresolved: UnresolvedUse | undefined;
  /** Whether the instance id was unknown, expired or another application's. */
  readonly instanceDropped: boolean;
}

const unattributed: Attribution = {
  person: undefined,
  use: undefined,
  unresolved: undefined,
  instanceDropped: false,
};

/**
 * Attributes a packet to the user of its instance id. Without a valid one, it is attributed to the identity asserted by the
 * client, if the application accepts such identities.
 * @param environment its number
 * @param now Unix ms
 */
export function attribute(
  instances: Instances,
  { i, u }: Packet,
  application: Application,
  environment: number,
  now: number,
): Attribution {
  if (i === undefined && u === undefined) return unattributed;
  const found = i === undefined ? undefined : instances.find(i, application.number, now);
  if (found !== undefined) return { ...found, unresolved: undefined, instanceDropped: false };
  const asserted = u !== undefined && application.acceptClientIdentities && isIdentity(u);
  const person = asserted ? instances.personOf(application.number, u) : undefined;
  if (i !== undefined && person === undefined && instances.mayResolve(i, application.number)) {
    const place = { application: application.number, environment };
    const unresolved = { ...place, instanceId: i, seconds: Math.floor(now / 1000), rows: [] };
    return { ...unattributed, unresolved };
  }
  return { person, use: undefined, unresolved: undefined, instanceDropped: i !== undefined };
}
