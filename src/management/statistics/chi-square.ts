import { upperGamma } from './special-functions.ts';

/** How probable it is that a variable of the χ² distribution is at least `x`. */
export function upperTail(x: number, degreesOfFreedom: number): number {
  return upperGamma(degreesOfFreedom / 2, x / 2);
}
