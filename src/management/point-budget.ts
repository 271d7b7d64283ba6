import { ApiError } from '../contract/errors.ts';

/** Maximum number of points in all series of a report together: they are in memory until it is sent. */
export const maxPoints = 200_000;

/** What is left of the points that a report may have. */
export class PointBudget {
  #left: number;

  constructor(left = maxPoints) {
    this.#left = left;
  }

  /** @throws {ApiError} `too_many_points` */
  take(): void {
    this.#left -= 1;
    if (this.#left >= 0) return;
    throw new ApiError('too_many_points', overPoints);
  }
}

export const overPoints = `The report would have more than ${maxPoints} points: take a wider step or a shorter range, or ask for one feature or metric`;
