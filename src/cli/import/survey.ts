import type { BadLine, Source } from './source.ts';

/** What a source contains. */
export interface Survey {
  /** The number of counts by environment; `undefined` for rows that name none. */
  readonly environments: Map<string | undefined, number>;
  readonly totals: Totals;
  badLines: number;
}

/** The contents of one environment. */
export class Totals {
  counts = 0;
  checks = 0;
  used = 0;
  viewed = 0;
  /** Unix seconds. */
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;
  readonly #features = new Map<string, Set<string>>();

  get features(): number {
    return this.#features.size;
  }

  get variants(): number {
    return [...this.#features.values()].reduce((sum, variants) => sum + variants.size, 0);
  }

  add(time: number, feature: string, variant: string, checks: number, used: number, viewed: number): void {
    this.counts += 1;
    this.checks += checks;
    this.used += used;
    this.viewed += viewed;
    if (time < this.first) this.first = time;
    if (time > this.last) this.last = time;
    const variants = this.#features.get(feature);
    if (variants === undefined) this.#features.set(feature, new Set([variant]));
    else if (!variants.has(variant)) variants.add(variant);
  }
}

/**
 * Reads a source without importing it.
 * @param wanted the totals are those of this environment; without it, of all environments
 * @param bad receives the lines that are not rows
 * @param progress receives the number of bytes read
 * @throws {Failure} if a file cannot be read
 */
export function surveyOf(
  source: Source,
  wanted: string | undefined,
  bad: (line: BadLine) => void,
  progress: (done: number) => void,
): Survey {
  const survey: Survey = { environments: new Map(), totals: new Totals(), badLines: 0 };
  const { environments, totals } = survey;
  const reading = source.read(
    (environment, ...counts) => {
      environments.set(environment, (environments.get(environment) ?? 0) + 1);
      if (wanted === undefined || environment === wanted) totals.add(...counts);
    },
    (line) => {
      survey.badLines += 1;
      bad(line);
    },
  );
  for (const done of reading) progress(done);
  return survey;
}
