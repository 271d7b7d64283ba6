import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { chanceOf, Random } from './random.ts';

/** Days of history. */
export const historyDays = 90;

/** The minute of the day at which one day of the shop ends and the next begins, so that no chart has a step there. */
const quietest = 5 * 60;

/** The payment provider was down for an hour of this many days ago, from this hour (UTC) on. */
const outage = { daysAgo: 9, hour: 14 } as const;

/** Traffic of the shop by the hour, the day of the week, and events. Days and minutes are counted from the epoch. */
export class Rhythm {
  readonly today: number;
  readonly #seed: number;

  constructor(seed: number, nowMinute: number) {
    this.#seed = seed;
    this.today = Math.floor(nowMinute / minutesPerDay);
  }

  /** Traffic of an environment in a minute, as a share of Production's average. */
  at(environment: string, minute: number): number {
    const day = Math.floor(minute / minutesPerDay);
    const hour = (minute % minutesPerDay) / 60;
    if (environment !== 'Production')
      return officeHours(day, hour) * (environment === 'Staging' ? 0.012 : 0.005);
    const isDown = day === this.today - outage.daysAgo && Math.floor(hour) === outage.hour;
    return this.ofDay(Math.floor((minute - quietest) / minutesPerDay)) * evening(hour) * (isDown ? 0.03 : 1);
  }

  /** Traffic of a whole day of Production; 1 is the average. */
  ofDay(day: number): number {
    const growth = 1 - (0.22 * (this.today - day)) / historyDays;
    return growth * (isWeekend(day) ? 0.68 : 1.09) * Math.exp(0.05 * this.#spread(day, 1));
  }

  /** How much more or less visitors did on a day with one flag, with all its variants alike. */
  mood(day: number, flag: number): number {
    return Math.exp(0.08 * this.#spread(day, 100 + flag));
  }

  #spread(day: number, salt: number): number {
    return new Random(chanceOf(this.#seed, day, salt) * 2 ** 32).normal();
  }
}

/** Shops are busiest in the evening, and quiet at four in the morning. Its average is 1. */
function evening(hour: number): number {
  const wave = (peak: number) => Math.cos((2 * Math.PI * (hour - peak)) / 24);
  return 1 + 0.72 * wave(18) + 0.16 * Math.cos((4 * Math.PI * (hour - 12)) / 24);
}

function officeHours(day: number, hour: number): number {
  if (isWeekend(day) || hour < 7 || hour >= 18) return 0;
  return hour >= 11 && hour < 12 ? 1.2 : 2.4;
}

/** Day 0 of the epoch was a Thursday. */
function isWeekend(day: number): boolean {
  return (day + 4) % 7 === 6 || (day + 4) % 7 === 0;
}
