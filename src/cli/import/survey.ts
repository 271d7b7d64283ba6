import type { Selection } from './parts.ts';
import type { MetricName } from './rows.ts';
import type { BadLine, Source } from './source.ts';

export interface Survey {
  /** Number of rows by environment. The key is `undefined` for rows without an environment. */
  readonly environments: Map<string | undefined, number>;
  /** Number of rows after the end of the selection. */
  later: number;
  readonly totals: Totals;
}

export class Totals {
  counts = 0;
  checks = 0;
  used = 0;
  viewed = 0;
  measurements = 0;
  /** Unix seconds. */
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;
  readonly #features = new Map<string, Set<string>>();
  readonly #metrics = new Set<string>();

  get features(): number {
    return this.#features.size;
  }

  get variants(): number {
    return [...this.#features.values()].reduce((sum, variants) => sum + variants.size, 0);
  }

  get metrics(): number {
    return this.#metrics.size;
  }

  addCount(time: number, feature: string, variant: string, checks: number, used: number, viewed: number): void {
    this.counts += 1;
    this.checks += checks;
    this.used += used;
    this.viewed += viewed;
    this.#addTime(time);
    const variants = this.#features.get(feature);
    if (variants === undefined) this.#features.set(feature, new Set([variant]));
    else if (!variants.has(variant)) variants.add(variant);
  }

  addMeasurement(time: number, [metric]: MetricName): void {
    this.measurements += 1;
    this.#metrics.add(metric);
    this.#addTime(time);
  }

  #addTime(time: number): void {
    if (time < this.first) this.first = time;
    if (time > this.last) this.last = time;
  }
}

/**
 * Reads a source without importing it.
 * @param wanted the selection; without an environment, the totals cover all environments
 * @param bad receives the lines that are not rows
 * @param progress receives the number of bytes read
 * @throws {Failure} if a file cannot be read
 */
export function surveySource(
  source: Source,
  { environment: wanted, before }: Selection,
  bad: (line: BadLine) => void,
  progress: (done: number) => void,
): Survey {
  const survey: Survey = { environments: new Map(), later: 0, totals: new Totals() };
  const { environments, totals } = survey;
  const isSelected = (environment: string | undefined, time: number) => {
    environments.set(environment, (environments.get(environment) ?? 0) + 1);
    if (wanted !== undefined && environment !== wanted) return false;
    if (time < before) return true;
    survey.later += 1;
    return false;
  };
  const sink = {
    count(environment: string | undefined, time: number, ...row: [string, string, number, number, number]) {
      if (isSelected(environment, time)) totals.addCount(time, ...row);
    },
    measurement(environment: string | undefined, time: number, name: MetricName) {
      if (isSelected(environment, time)) totals.addMeasurement(time, name);
    },
  };
  for (const done of source.read(sink, bad)) progress(done);
  return survey;
}
