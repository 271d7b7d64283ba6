import type { Batch } from '../../../storage/commit/batch.ts';
import type { UnresolvedUse } from '../../../storage/commit/envelope.ts';
import type { EnvironmentSeries } from '../../../storage/commit/series-dictionary.ts';
import { bucketWidth, encodeBucket } from '../../../storage/lmdb/blocks.ts';
import type { InstanceUse } from '../../../storage/lmdb/instances.ts';
import type { Application } from '../../../storage/lmdb/records.ts';
import type { Asker } from '../../senders.ts';
import { type Instances, isIdentity, type Person } from '../identities/instances.ts';
import type { Packet } from './packet.ts';

/**
 * Adds a checked packet to a batch, in the minute of `now` (Unix ms). Entries with an invalid name are left out.
 * @param person the user to whom the packet is attributed
 * @param asker the sender
 * @param unresolved receives the rows for a person who might become known later: see `UnresolvedUse.rows`
 */
export function addPacket(
  packet: Packet,
  series: EnvironmentSeries,
  batch: Batch,
  now: number,
  person?: Person,
  asker?: Asker,
  unresolved?: number[],
): void {
  const minute = Math.floor(now / 60_000);
  const bucket = encodeBucket(bucketWidth.minute, minute);
  const seconds = Math.floor(now / 1000);
  if (person !== undefined) batch.exposures.addPerson(person.digest);
  for (const feature in packet.f) {
    const variants = packet.f[feature]!;
    for (const variant in variants) {
      const counts = variants[variant]!;
      const ref = series.variant(feature, variant, batch);
      if (ref === undefined) continue;
      asker?.asked(feature, ref, series, batch);
      batch.counts.add(ref, bucket, counts[0] ?? 0, counts[1] ?? 0, counts[2] ?? 0);
      if (person === undefined) {
        unresolved?.push(ref, minute, counts[0] ?? 0, counts[1] ?? 0, counts[2] ?? 0);
        continue;
      }
      batch.users.add(ref, minute, person.high, person.low);
      batch.exposures.add(ref, seconds, counts[0] ?? 0, counts[1] ?? 0, counts[2] ?? 0);
    }
  }
  for (const metric in packet.m) {
    const ref = series.metric(metric, batch);
    if (ref !== undefined) batch.measurements.add(ref, bucket, packet.m[metric]!, now);
  }
  if (person !== undefined) batch.users.add(series.whole, minute, person.high, person.low);
  else unresolved?.push(series.whole, minute, 0, 0, 0);
}

interface Attribution {
  readonly person: Person | undefined;
  /** Set if the expiry of the instance id is extended. */
  readonly use: InstanceUse | undefined;
  /** The use of an instance id that might become known later. Its `rows` are still empty. */
  readonly unresolved: UnresolvedUse | undefined;
  readonly instanceDropped: boolean;
}

export type PeopleFinder = Pick<Instances, 'find' | 'identifyPerson'>;

const unattributed: Attribution = { person: undefined, use: undefined, unresolved: undefined, instanceDropped: false };

/**
 * Attributes a packet by its instance id. Without an instance id, attributes it by the client's own identity, if the
 * application accepts such identities.
 */
export function attribute(
  instances: PeopleFinder,
  { i, u }: Packet,
  application: Application,
  environment: number,
  now: number,
): Attribution {
  if (i === undefined && u === undefined) return unattributed;
  const found = i === undefined ? undefined : instances.find(i, application.number, now);
  if (typeof found === 'object') return { ...found, unresolved: undefined, instanceDropped: false };
  const asserted = u !== undefined && application.acceptClientIdentities && isIdentity(u);
  const person = asserted ? instances.identifyPerson(application.number, u) : undefined;
  if (i !== undefined && person === undefined && found === 'unresolved') {
    const place = { application: application.number, environment };
    const unresolved = { ...place, instanceId: i, seconds: Math.floor(now / 1000), rows: [] };
    return { ...unattributed, unresolved };
  }
  return { person, use: undefined, unresolved: undefined, instanceDropped: i !== undefined };
}
