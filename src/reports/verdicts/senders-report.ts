import { surplusName } from '../../contract/names.ts';
import type { FeatureSenders, Sender } from '../../contract/shapes/verdict.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import type { Environment } from '../../storage/lmdb/records.ts';
import { readSenders, type SeenSender, senderLife, slotMs } from '../../storage/lmdb/senders.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { sightsAt } from '../usage/sights.ts';

export interface SendersTask {
  readonly environments: readonly Pick<Environment, 'name' | 'number'>[];
  readonly feature: string;
  /** Unix ms. */
  readonly now: number;
}

/** Maximum number of senders in a response. */
const mostShown = 200;

/** Returns the senders that check a feature; `undefined` if it was not seen in these environments. */
export function* sendersReport(
  store: UsageTables,
  { environments, feature, now }: SendersTask,
): Reading<FeatureSenders | undefined> {
  let isSeen = false;
  const items: Sender[] = [];
  for (const { name, number } of environments) {
    const senders = yield* fromSnapshot(store.lmdb, function* (at) {
      const sight = (yield* sightsAt(store, number, at, new Set([feature]))).get(feature);
      return sight && sendersAt(store, number, sight.ordinal, now, at);
    });
    if (senders === undefined) continue;
    isSeen = true;
    items.push(...senders.map((sender) => showSender(name, sender)));
  }
  if (!isSeen) return undefined;
  items.sort((one, other) => (one.lastAt < other.lastAt ? 1 : one.lastAt > other.lastAt ? -1 : 0));
  const shown = items.slice(0, mostShown);
  const othersLeftOut = items.length > mostShown || items.some(({ name }) => name === surplusName);
  return { items: shown, othersLeftOut };
}

/** Returns the current senders of a feature or of a whole environment: see `readSenders`. @param now Unix ms */
export function sendersAt(
  store: UsageTables,
  environment: number,
  ordinal: number,
  now: number,
  at: Snapshot,
): readonly SeenSender[] {
  const oldest = Math.floor(now / slotMs) - senderLife;
  return readSenders(store, environment, ordinal, at).filter(({ last }) => last >= oldest);
}

export function showSender(environment: string, { first, last, ...sender }: SeenSender): Sender {
  return { environment, ...sender, firstAt: timeText(first * slotMs), lastAt: timeText(last * slotMs) };
}
