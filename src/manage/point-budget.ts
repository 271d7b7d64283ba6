import { ApiError } from '../errors.ts';

/** Points that all series of a report may have together: they are held in memory until it is sent. */
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
    throw new ApiError(
      'too_many_points',
      `The report would have more than ${maxPoints} points: take a wider step or a shorter range, or ask for one feature or metric`,
    );
  }
}
