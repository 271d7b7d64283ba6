export interface Schedule {
  /** The due time (milliseconds, monotonic) of the next request due by `now`; `undefined` if none is due. */
  next(now: number): number | undefined;
  /** Whether no request will ever be due again. */
  over(now: number): boolean;
}

/** A thread's part of a schedule: it takes every `of`th request, beginning with the one at `index`. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

const everything: Share = { index: 0, of: 1 };

function countOf(total: number, { index, of }: Share): number {
  return Math.max(0, Math.ceil((total - index) / of));
}

/** Full speed: a request is due whenever a connection is idle, until `end` or until `limit` were sent. */
export function closedLoop(end: number, limit: number, share = everything): Schedule {
  const total = countOf(limit, share);
  let sent = 0;
  return {
    next(now) {
      if (now >= end || sent >= total) return undefined;
      sent++;
      return now;
    },
    over: (now) => now >= end || sent >= total,
  };
}

/**
 * A fixed rate, independent of the server: requests are due at equal intervals from `start`. A request that found no idle connection
 * is sent late with its original due time, so that a stall shows in the latencies (no coordinated omission).
 */
export function openLoop(start: number, rate: number, seconds: number, share = everything): Schedule {
  const total = countOf(Math.floor(rate * seconds), share);
  let sent = 0;
  return {
    next(now) {
      const due = start + ((share.index + sent * share.of) * 1000) / rate;
      if (sent >= total || due > now) return undefined;
      sent++;
      return due;
    },
    over: () => sent >= total,
  };
}

/** A schedule that ends at a given time, even if requests are still due. */
export function until(end: number, schedule: Schedule): Schedule {
  return {
    next: (now) => (now >= end ? undefined : schedule.next(now)),
    over: (now) => now >= end || schedule.over(now),
  };
}
