import { type DemoFlag, flags, type Shares } from './flags.ts';
import { People } from './people.ts';
import { createRhythm, type Rhythm } from './rhythm.ts';
import type { SourceName } from './senders.ts';

/** What the made-up shop does at any time. Its history and its live traffic are both made of this. */
export interface Story {
  readonly seed: number;
  readonly rhythm: Rhythm;
  readonly people: People;
  /** Whether programs ask for a flag in an environment on a day (since the epoch). */
  isAsked(flag: DemoFlag, environment: string, day: number): boolean;
  /** The shares of a flag's variants. New ones come to the other environments some days earlier. */
  sharesOf(flag: DemoFlag, environment: string, day: number): Shares;
  /** How many of 100 checks of a variant are used, and how many are viewed. */
  rateOf(flag: DemoFlag, index: number, variant: string, day: number): { used: number; viewed: number };
}

export const environmentNames = ['Production', 'Staging', 'Development'] as const;

const daysAhead = 3;

/** Tells the story up to a minute since the epoch. */
export function tellStory(seed: number, nowMinute: number): Story {
  const rhythm = createRhythm(seed, nowMinute);
  const lead = (environment: string) => (environment === 'Production' ? 0 : daysAhead);
  return {
    seed,
    rhythm,
    people: new People(seed),
    isAsked({ only, came = Number.POSITIVE_INFINITY, left = -1 }, environment, day) {
      const daysAgo = rhythm.today - day;
      if (only !== undefined && !only.includes(environment)) return false;
      return daysAgo <= came + lead(environment) && daysAgo >= left;
    },
    sharesOf: ({ shares }, environment, day) => shares(rhythm.today - day - lead(environment)),
    rateOf({ used = 0, viewed = 0 }, index, variant, day) {
      const own = typeof used === 'number' ? used : (used[variant] ?? 0);
      const mood = rhythm.mood(day, index);
      return { used: Math.min(1, (own * mood) / 100), viewed: Math.min(1, (viewed * mood) / 100) };
    },
  };
}

/** Every flag with its number. */
export const numberedFlags: readonly (readonly [index: number, flag: DemoFlag])[] = [...flags.entries()];

/** Checks of a flag a minute, by all programs or by one of them, in Production on average. */
export function checksOf({ asks }: DemoFlag, source?: SourceName): number {
  if (source !== undefined) return asks[source] ?? 0;
  return Object.values(asks).reduce((sum, each) => sum + each, 0);
}
