import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { chanceOf, createRandom } from './random.ts';

/** How busy the made-up shop is: by the hour of the day, the day of the week, and what happened. */

/** The minute of the day at which one day of the shop ends and the next begins, so that no chart has a step there. */
const quietest = 5 * 60;

/** Days of history. */
export const historyDays = 90;

/** The payment provider was down for an hour of this many days ago, from this hour (UTC) on. */
const outage = { daysAgo: 9, hour: 14 } as const;

export interface Rhythm {
  /** The day of the first history, in days since the epoch, and today. */
  readonly firstDay: number;
  readonly today: number;
  /** Traffic of an environment in a minute (since the epoch), as a share of Production's average. */
  at(environment: string, minute: number): number;
  /** How busy a whole day of Production is: 1 is the average. */
  busyness(day: number): number;
  /** How much more or less visitors did on a day: of one flag, but of all its variants alike. */
  mood(day: number, flag: number): number;
}

/** The rhythm of the days up to now. @param nowMinute minutes since the epoch */
export function createRhythm(seed: number, nowMinute: number): Rhythm {
  const today = Math.floor(nowMinute / minutesPerDay);
  const firstDay = today - historyDays;
  const spread = (day: number, salt: number) => createRandom(chanceOf(seed, day, salt) * 2 ** 32).normal();
  const busyness = new Map<number, number>();
  const busynessOf = (day: number) => {
    const known = busyness.get(day);
    if (known !== undefined) return known;
    const growth = 1 - (0.22 * (today - day)) / historyDays;
    const made = growth * (isWeekend(day) ? 0.68 : 1.09) * Math.exp(0.05 * spread(day, 1));
    busyness.set(day, made);
    return made;
  };
  const isDown = (day: number, hour: number) =>
    day === today - outage.daysAgo && Math.floor(hour) === outage.hour;
  return {
    firstDay,
    today,
    at(environment, minute) {
      const day = Math.floor(minute / minutesPerDay);
      const hour = (minute % minutesPerDay) / 60;
      if (environment !== 'Production')
        return office(day, hour) * (environment === 'Staging' ? 0.012 : 0.005);
      const down = isDown(day, hour) ? 0.03 : 1;
      return busynessOf(Math.floor((minute - quietest) / minutesPerDay)) * evening(hour) * down;
    },
    busyness: busynessOf,
    mood: (day, flag) => Math.exp(0.08 * spread(day, 100 + flag)),
  };
}

/** Shops are busiest in the evening, and quiet at four in the morning. Its average is 1. */
function evening(hour: number): number {
  const wave = (peak: number) => Math.cos((2 * Math.PI * (hour - peak)) / 24);
  return 1 + 0.72 * wave(18) + 0.16 * Math.cos((4 * Math.PI * (hour - 12)) / 24);
}

function office(day: number, hour: number): number {
  if (isWeekend(day) || hour < 7 || hour >= 18) return 0;
  return hour >= 11 && hour < 12 ? 1.2 : 2.4;
}

/** Day 0 of the epoch was a Thursday. */
function isWeekend(day: number): boolean {
  return (day + 4) % 7 === 6 || (day + 4) % 7 === 0;
}
