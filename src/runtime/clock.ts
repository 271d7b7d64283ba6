/** The service's source of time, passed in so that tests control it. */
export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary origin, for ages and rates. */
  monotonic(): number;
}

export interface TimerClock extends Clock {
  /** Calls back once after some milliseconds. A waiting callback does not keep the process alive. */
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
