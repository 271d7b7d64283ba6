import { Histogram } from './histogram.ts';
import type { Measured } from './load-run.ts';
import type { LoadReport } from './plan.ts';

/** What one thread sent and received. */
export interface Outcome extends Measured {
  /** Number of successful requests by index of the request. */
  readonly accepted: readonly number[];
  readonly errors: Readonly<Record<string, number>>;
}

/** The outcome of a thread, and its CPU time in seconds. */
export interface ThreadOutcome extends Outcome {
  readonly cpuSeconds: number;
  /** From the first request to the last response, seconds. */
  readonly elapsed: number;
}

export function combine(loop: LoadReport['loop'], outcomes: readonly ThreadOutcome[]): LoadReport {
  const latencies = merge(outcomes.map((each) => each.latencies));
  const accepted = outcomes[0]!.accepted.map((_, index) => sum(outcomes, (each) => each.accepted[index]!));
  const kinds = new Set(outcomes.flatMap(({ errors }) => Object.keys(errors)));
  return {
    loop,
    seconds: Math.max(...outcomes.map(({ seconds }) => seconds)),
    rps: sum(outcomes, ({ rps }) => rps),
    ...latencies.quantiles(),
    latencies: latencies.distribution(),
    sent: sum(outcomes, ({ sent }) => sent),
    requests: accepted.reduce((total, count) => total + count, 0),
    accepted,
    errors: Object.fromEntries(
      [...kinds].map((kind) => [kind, sum(outcomes, ({ errors }) => errors[kind] ?? 0)]),
    ),
    lateness: merge(outcomes.map((each) => each.lateness)).quantiles(),
    own: merge(outcomes.map((each) => each.own)).quantiles(),
    others: merge(outcomes.map((each) => each.others)).quantiles(),
    cpuShare: Math.max(...outcomes.map(({ cpuSeconds, elapsed }) => cpuSeconds / elapsed)),
    cpuSeconds: sum(outcomes, ({ cpuSeconds }) => cpuSeconds),
  };
}

function merge(all: readonly Uint32Array[]): Histogram {
  const whole = new Histogram();
  for (const counts of all) whole.add(new Histogram(counts));
  return whole;
}

function sum(outcomes: readonly ThreadOutcome[], of: (outcome: ThreadOutcome) => number): number {
  return outcomes.reduce((total, outcome) => total + of(outcome), 0);
}
