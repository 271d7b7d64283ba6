import type { SenderRoute, Transport } from '../../contract/message-routes.ts';
import { surplusName } from '../../contract/names.ts';
import { pairKey, prefixKey } from './key-prefix.ts';
import { environmentOrdinal } from './sketches.ts';
import { readAt, type Snapshot } from './snapshot.ts';
import type { UsageTables } from './usage.ts';

/**
 * The senders of each environment, and the senders that check each of its features.
 *
 * Key, big-endian: environment (u32), then the ordinal (u32) of the first series that names the feature, or
 * `environmentOrdinal` for the environment as a whole. Value: a JSON array of senders, each `[name, version, transport,
 * route, first, last]`, where the times are slots of ten minutes since the epoch.
 */
export interface Sender {
  readonly name: string;
  /** `null` if the sender does not report a version. */
  readonly version: string | null;
  readonly transport: Transport;
  readonly route: SenderRoute;
}

export interface SeenSender extends Sender {
  readonly first: number;
  readonly last: number;
}

/** A slot of ten minutes in which a sender checked a feature or sent any message. */
export interface SenderSight {
  readonly environment: number;
  /** The ordinal of the feature's first series, or `environmentOrdinal`. */
  readonly ordinal: number;
  readonly slot: number;
  readonly sender: Sender;
}

export interface SenderSpan extends Omit<SenderSight, 'slot'> {
  readonly first: number;
  readonly last: number;
}

export const slotMs = 600_000;

/** A sender that was not seen in this number of slots (90 days) is forgotten. */
export const senderLife = 90 * 144;

/** Maximum number of senders per feature and per environment: one half for packets and the other half for reports. */
const most = { feature: 50, environment: 200 };

/** The entry for all senders of the same transport and route that exceed the limit. */
export function otherSender({ transport, route }: Sender): Sender {
  return { name: surplusName, version: null, transport, route };
}

/** Adds the senders of a batch. Call this in a transaction. */
export function putSights(store: UsageTables, sights: readonly SenderSight[]): void {
  putSpans(
    store,
    sights.map((sight) => ({ ...sight, first: sight.slot, last: sight.slot })),
  );
}

/** Adds senders that were seen in a range of slots. Call this in a transaction. */
export function putSpans(store: UsageTables, spans: readonly SenderSpan[]): void {
  const records = new Map<string, SeenSender[]>();
  const changed = new Set<string>();
  for (const span of spans) {
    const { environment, ordinal } = span;
    const key = pairKey(environment, ordinal).toString('latin1');
    const senders = records.get(key) ?? [...readSenders(store, environment, ordinal)];
    records.set(key, senders);
    const room = ordinal === environmentOrdinal ? most.environment : most.feature;
    if (addSpan(senders, span.sender, span, room / 2)) changed.add(key);
  }
  for (const key of changed) putSenders(store, Buffer.from(key, 'latin1'), records.get(key)!);
}

export function readSenders(
  store: UsageTables,
  environment: number,
  ordinal: number,
  at?: Snapshot,
): readonly SeenSender[] {
  const value = store.senders.get(pairKey(environment, ordinal), readAt(at));
  return value === undefined ? [] : decodeSenders(value);
}

/**
 * Removes senders that were not seen for a long time. Call this in a transaction.
 * @param from the first ordinal to visit
 * @param limit maximum number of records to visit
 * @returns the next ordinal; `undefined` at the end
 */
export function sweepSenders(
  store: UsageTables,
  environment: number,
  from: number,
  slot: number,
  limit: number,
): number | undefined {
  const range = { start: pairKey(environment, from), end: prefixKey(environment + 1), limit };
  const found = Array.from(store.senders.getRange(range), ({ key, value }) => {
    return { key: Buffer.from(key), senders: decodeSenders(value) };
  });
  for (const { key, senders } of found) {
    const kept = senders.filter(({ last }) => slot - last <= senderLife);
    if (kept.length === senders.length) continue;
    if (kept.length === 0) store.senders.removeSync(key);
    else putSenders(store, key, kept);
  }
  return found.length < limit ? undefined : found.at(-1)!.key.readUInt32BE(4) + 1;
}

/** Adds the slots in which a sender was seen. @returns true if this changed `senders` */
function addSpan(senders: SeenSender[], sender: Sender, { first, last }: Slots, room: number): boolean {
  const at = senders.findIndex((each) => isSame(each, sender));
  const known = senders[at];
  if (known !== undefined) {
    if (first >= known.first && last <= known.last) return false;
    senders[at] = { ...known, first: Math.min(first, known.first), last: Math.max(last, known.last) };
    return true;
  }
  if (sender.name !== surplusName && senders.filter((each) => isOfKind(each, sender)).length >= room) {
    return addSpan(senders, otherSender(sender), { first, last }, room);
  }
  const { name, version, transport, route } = sender;
  senders.push({ name, version, transport, route, first, last });
  return true;
}

type Slots = Pick<SenderSpan, 'first' | 'last'>;

function isSame(one: Sender, other: Sender): boolean {
  return (
    one.name === other.name &&
    one.version === other.version &&
    one.route === other.route &&
    one.transport === other.transport
  );
}

function isOfKind({ name, route }: Sender, other: Sender): boolean {
  return name !== surplusName && (route === 'telemetry') === (other.route === 'telemetry');
}

type StoredSender = [
  name: string,
  version: string | null,
  transport: Transport,
  route: SenderRoute,
  first: number,
  last: number,
];

function putSenders(store: UsageTables, key: Buffer, senders: readonly SeenSender[]): void {
  const stored = senders.map(({ name, version, transport, route, first, last }): StoredSender => {
    return [name, version, transport, route, first, last];
  });
  store.senders.putSync(key, Buffer.from(JSON.stringify(stored)));
}

export function decodeSenders(value: Buffer): SeenSender[] {
  const stored = JSON.parse(value.toString()) as StoredSender[];
  return stored.map(([name, version, transport, route, first, last]) => {
    return { name, version, transport, route, first, last };
  });
}
