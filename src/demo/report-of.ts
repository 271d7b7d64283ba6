import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import type { Random } from './random.ts';
import type { Source } from './senders.ts';
import { numberedFlags, type Story } from './story.ts';
import type { FlagCounts } from './usage-message.ts';

/** What a server has counted. @param minute since the epoch @param minutes for how long it did */
export function countsOf(
  story: Story,
  source: Source,
  environment: string,
  minute: number,
  minutes: number,
  random: Random,
): FlagCounts[] {
  const day = Math.floor(minute / minutesPerDay);
  const busyness = story.rhythm.at(environment, minute) * minutes;
  return numberedFlags.flatMap(([index, flag]) => {
    const asks = flag.asks[source.name];
    if (asks === undefined || !story.isAsked(flag, environment, day)) return [];
    const variants = new Map<string, readonly [number, number, number]>();
    for (const [variant, share] of Object.entries(story.sharesOf(flag, environment, day))) {
      const checks = random.poisson(asks * share * busyness);
      const rate = story.rateOf(flag, index, variant, day);
      if (checks === 0) continue;
      variants.set(variant, [
        checks,
        random.binomial(checks, rate.used),
        random.binomial(checks, rate.viewed),
      ]);
    }
    return variants.size === 0 ? [] : [{ feature: flag.name, variants }];
  });
}
