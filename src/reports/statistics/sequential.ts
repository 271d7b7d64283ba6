import type { Estimate } from './difference.ts';
import { criticalValue, upperTail } from './distributions.ts';

/**
 * Computes a confidence interval of an estimate that holds on every day, even if the result is read every day. The
 * interval is the asymptotic confidence sequence by Robbins' normal mixture (I. Waudby-Smith and others, "Time-uniform
 * central limit theory and asymptotic confidence sequences", 2024, theorem 2.2). It is the interval of the mixture
 * sequential probability ratio test (R. Johari and others, "Peeking at A/B tests", 2017). Student's t replaces the
 * normal distribution, because the variance of few days is uncertain.
 * @param progress completed share of the plan, above 0; the interval is narrowest near 1
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

/**
 * Returns the bound that the standardised estimate exceeds with a probability of at most `alpha` if the true value is
 * 0.
 */
export function boundary(alpha: number, progress: number): number {
  const evidence = -2 * Math.log(alpha);
  // The plan determines the mixture, so that the interval is narrowest when the plan is met (equation 10 of the paper).
  const r = progress * (evidence + Math.log(evidence + 1));
  return Math.sqrt((1 + 1 / r) * (Math.log1p(r) + evidence));
}
