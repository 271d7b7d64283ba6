import { Ledger } from '../ingest/ledger/ledger.ts';
import { LedgerTallies } from '../storage/commit/ledger-tallies.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import type { LedgerLine } from '../storage/lmdb/ledger.ts';
import type { UsageStore } from '../storage/lmdb/usage.ts';
import { Random } from './random.ts';
import { brokenSenders, ledgerSource, programs } from './senders.ts';
import type { Shop } from './shop.ts';
import type { Story } from './story.ts';

/** Where the history goes, and what it is made of. */
export interface HistoryDeps {
  readonly usage: UsageStore;
  readonly shop: Shop;
  readonly story: Story;
  /** The minute (since the epoch) before which the history ends. */
  readonly until: number;
}

/** Makes the ledger of one day after the other: what was accepted by sender, and what was refused. */
export function ledgerHistory({ usage, shop, story, until }: HistoryDeps) {
  const { application, holderOf } = shop;
  const random = new Random(story.seed + 1);
  const tallies = new LedgerTallies();
  let end = 0;
  const now = () => end * 60_000 - 1;
  const clock = { now, monotonic: now };
  const ledger = new Ledger({ store: usage, clock, laneOf: () => ({ ledger: tallies }) });
  /** The lines of what the ledger is told once, as though it came `mean` times on average. */
  const repeated = (mean: number, tell: () => void) => {
    const count = random.poisson(mean);
    if (count > 0) tell();
    const lines = tallies.take().lines();
    return lines.map((line) => ({ ...line, count }));
  };
  function* accepted(minute: number, minutes: number) {
    for (const environment of application.environments)
      for (const program of programs) {
        const perMinute = story.messagesPerMinute(program, environment.name, minute + minutes / 2);
        for (const [userAgent, share] of Object.entries(program.agents)) {
          const source = { ...ledgerSource(program, userAgent), application, environment };
          yield* repeated(perMinute * minutes * share, () => ledger.accepted(source));
        }
      }
  }
  function* refused(daysAgo: number, minutes: number) {
    for (const { key, environment, origin, refusal, source, ...broken } of brokenSenders) {
      if (daysAgo > broken.daysAgo) continue;
      const refused = { holder: holderOf(key), environment, origin };
      yield* repeated((broken.perHour * minutes) / 60, () => ledger.refused(refusal, source, refused));
    }
  }
  return function* linesOf(day: number): Generator<LedgerLine> {
    const last = Math.min(until, (day + 1) * minutesPerDay);
    for (let minute = day * minutesPerDay; minute < last; minute = end) {
      end = Math.min(last, minute + 60);
      yield* accepted(minute, end - minute);
      yield* refused(story.rhythm.today - day, end - minute);
    }
  };
}
