import { incompleteBeta } from './special-functions.ts';

/** How probable it is that a variable of Student's t distribution is at least as far from 0 as `t`, on either side. */
export function twoSidedTail(t: number, degreesOfFreedom: number): number {
  return incompleteBeta(degreesOfFreedom / (degreesOfFreedom + t * t), degreesOfFreedom / 2, 0.5);
}

/**
 * How far from 0 a variable of Student's t distribution is with a probability of no more than `alpha`.
 * @param alpha above 0, at most 1
 */
export function criticalValue(alpha: number, degreesOfFreedom: number): number {
  let high = 1;
  while (twoSidedTail(high, degreesOfFreedom) > alpha) high *= 2;
  let low = 0;
  while (high - low > 1e-12 * high) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (twoSidedTail(middle, degreesOfFreedom) > alpha) low = middle;
    else high = middle;
  }
  return high;
}
