import type { ExperimentFigures } from '../../contract/shapes/experiment-figures.ts';

/** The records of experiments. Times are Unix milliseconds. */

export type Weight = readonly [variant: string, weight: number];

export interface PlannedMetric {
  /** `used`, `viewed` or a declared counter. */
  readonly metric: string;
  /** The better direction. */
  readonly direction: 'up' | 'down';
}

export interface GuardrailMetric extends PlannedMetric {
  /** Tolerated worsening per check. */
  readonly tolerated: number;
}

/** What a team decides before an experiment starts. */
export interface ExperimentPlan extends PlannedMetric {
  readonly name: string;
  readonly hypothesis: string | null;
  /** The number of the environment. */
  readonly environment: number;
  readonly base: string;
  /** `null`: the split of the feature. */
  readonly split: readonly Weight[] | null;
  readonly startAt: number;
  /** At least one of the two is present. */
  readonly endAt: number | null;
  readonly users: number | null;
  readonly guardrails: readonly GuardrailMetric[];
}

export interface Experiment extends ExperimentPlan {
  readonly id: string;
  /** Ascending in order of creation. */
  readonly number: number;
  /** The e-mail address of the user, or the name of the API key, that planned it. */
  readonly by: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Absent unless it was stopped before its planned end. */
  readonly stopped?: { readonly at: number; readonly reason: string };
  /** The result when the plan was met, or when it was stopped. It is written once. Absent before. */
  readonly result?: { readonly at: number; readonly figures: ExperimentFigures };
}
