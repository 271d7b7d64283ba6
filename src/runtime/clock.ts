/** The source of time of the service. Tests replace it. */
export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary origin, to measure ages and rates. */
  monotonic(): number;
}

export interface TimerClock extends Clock {
  /** Calls `callback` once after `ms`. A pending callback does not keep the process alive. */
  after(ms: number, callback: () => void): void;
}

export const systemClock: TimerClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, callback) => void setTimeout(callback, ms).unref(),
};

/** Monotonic time in milliseconds from an origin that all threads of the process share. */
export function threadTime(): number {
  return performance.timeOrigin + performance.now();
}
