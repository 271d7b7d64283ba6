import { Senders } from '../ingest/senders.ts';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import type { HistoryPlace } from './history-counts.ts';
import { type Source, sourceOf, sources } from './senders.ts';
import { numberedFlags } from './story.ts';

/** Makes what adds the programs that asked for flags on a day. @param until the minute (since the epoch) before which they did */
export function senderWriter(until: number): (place: HistoryPlace, day: number) => void {
  const senders = new Senders();
  return (place, day) => {
    const { story, environment, series, batch } = place;
    const evening = Math.min(until - 1, day * minutesPerDay + 17 * 60) * 60_000;
    if (story.rhythm.at(environment.name, evening / 60_000) === 0) return; // No one works on a weekend.
    for (const source of sources) {
      const features = askedBy(source, place, day);
      for (const [userAgent] of source.agents) {
        const { transport } = sourceOf(source, userAgent);
        const asker =
          source.sends === 'packets'
            ? senders.ofPacket(batch, environment.number, userAgent, evening)
            : senders.ofReport(
                batch,
                environment.number,
                { route: 'usage', transport, userAgent, appVersion: source.version },
                evening,
              );
        for (const [feature, variant] of features)
          asker.asked(feature, series.variant(feature, variant, batch)!, series, batch);
      }
    }
  };
}

/** The flags that a program asks for, each with one of its variants. */
function askedBy(source: Source, { story, environment }: HistoryPlace, day: number) {
  return numberedFlags.flatMap(([, flag]) => {
    if (flag.asks[source.name] === undefined || !story.isAsked(flag, environment.name, day)) return [];
    const shares = story.sharesOf(flag, environment.name, day);
    const variant = Object.keys(shares).find((name) => shares[name]! > 0);
    return variant === undefined ? [] : [[flag.name, variant] as const];
  });
}
