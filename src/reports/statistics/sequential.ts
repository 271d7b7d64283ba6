import type { Estimate } from './difference.ts';
import { criticalValue, upperTail } from './distributions.ts';

/**
 * The confidence interval of an estimate that holds on every day, however often it is looked at: the asymptotic confidence sequence
 * by Robbins' normal mixture (I. Waudby-Smith and others, "Time-uniform central limit theory and asymptotic confidence sequences",
 * 2024, theorem 2.2). It is the interval of the mixture sequential probability ratio test (R. Johari and others, "Peeking at A/B
 * tests", 2017). Student's t replaces the normal distribution, because the variance of few days is uncertain.
 * @param progress part of the plan that is over, above 0; the interval is narrowest near 1
 */
export function sequentialInterval(
  { value, standardError, degreesOfFreedom }: Estimate,
  alpha: number,
  progress: number,
): readonly [number, number] {
  const tail = upperTail(boundary(alpha, progress) ** 2, 1);
  const reach = standardError * criticalValue(tail, degreesOfFreedom);
  return [value - reach, value + reach];
}

/** The bound on the standardised estimate that is ever exceeded with a probability of at most `alpha` without a difference. */
export function boundary(alpha: number, progress: number): number {
  const evidence = -2 * Math.log(alpha);
  // The mixture is fixed by the plan, so that the interval is narrowest when the plan is met (equation 10 there).
  const r = progress * (evidence + Math.log(evidence + 1));
  return Math.sqrt((1 + 1 / r) * (Math.log1p(r) + evidence));
}
