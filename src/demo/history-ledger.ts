import { acceptedSubject } from '../ingest/ledger/hour-rows.ts';
import { Ledger } from '../ingest/ledger/ledger.ts';
import { LedgerTallies } from '../storage/commit/ledger-tallies.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { type LedgerLine, subjectText } from '../storage/lmdb/ledger.ts';
import type { UsageStore } from '../storage/lmdb/usage.ts';
import { brokenSenders } from './broken-senders.ts';
import { createRandom, type Random } from './random.ts';
import { type Source, sourceOf, sources } from './senders.ts';
import type { Shop } from './shop.ts';
import type { Story } from './story.ts';

/** What the history of the ledger is made of. */
interface LedgerHistoryDeps {
  readonly usage: UsageStore;
  readonly shop: Shop;
  readonly story: Story;
  readonly until: number;
}

const minutesPerHour = 60;
const minuteMs = 60_000;

/** Makes what the ledger says of one day after the other: accepted by sender, and refused by the ledger's own rules. */
export function ledgerWriter({
  usage,
  shop,
  story,
  until,
}: LedgerHistoryDeps): (day: number) => LedgerLine[] {
  const random = createRandom(story.seed + 1);
  const tallies = new LedgerTallies();
  let at = 0;
  const ledger = new Ledger({
    store: usage,
    clock: { now: () => at, monotonic: () => at },
    laneOf: () => ({ ledger: tallies }),
  });

  function refuse(daysAgo: number, minutes: number): void {
    for (const broken of brokenSenders) {
      if (broken.daysAgo < daysAgo) continue;
      const { environment, origin, refusal, source, key } = broken;
      const times = random.poisson((broken.perHour * minutes) / minutesPerHour);
      for (let count = 0; count < times; count += 1)
        ledger.refused(refusal, source, { holder: shop.holderOf(key), environment, origin });
    }
  }

  return (day) => {
    const lines: LedgerLine[] = [];
    for (
      let minute = day * minutesPerDay;
      minute < Math.min(until, (day + 1) * minutesPerDay);
      minute += minutesPerHour
    ) {
      const minutes = Math.min(minutesPerHour, until - minute);
      at = (minute + minutes) * minuteMs - 1;
      lines.push(...acceptedLines(shop, story, random, minute, minutes));
      refuse(story.rhythm.today - day, minutes);
    }
    return [...lines, ...tallies.take().lines()];
  };
}

/** What was accepted in an hour, by environment and sender. */
function acceptedLines(
  { application }: Shop,
  story: Story,
  random: Random,
  minute: number,
  minutes: number,
): LedgerLine[] {
  const hour = minute / minutesPerHour;
  const lastAt = (minute + minutes) * minuteMs - 1;
  return application.environments.flatMap((environment) => {
    const busyness = story.rhythm.at(environment.name, minute + minutes / 2) * minutes;
    return sources.flatMap((source) =>
      source.agents.flatMap(([userAgent, share]) => {
        const count = random.poisson(messagesOf(source, busyness, minutes) * share);
        if (count === 0) return [];
        const sender = { ...sourceOf(source, userAgent), environment: environment.number };
        const subject = acceptedSubject(sender);
        const text = subjectText({ ...subject, userAgent, instance: sender.instance ?? null });
        return [{ application: application.number, hour, subject: text, count, lastAt, example: null }];
      }),
    );
  });
}

/** Visitors send more packets when there are more of them; a server reports at its own pace while it runs. */
function messagesOf({ sends, perMinute }: Source, busyness: number, minutes: number): number {
  if (sends === 'packets') return perMinute * busyness;
  return busyness === 0 ? 0 : perMinute * minutes;
}
