/** Where the service reads the time. It is passed in, so that a test decides the time. */
export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary origin, for ages and rates. */
  monotonic(): number;
}

/** A clock with timers. */
export interface TimerClock extends Clock {
  /** Calls back once after some milliseconds. The process may end meanwhile. */
  after(ms: number, callback: () => void): void;
}

/** The machine's own clocks. */
export const systemClock: TimerClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, callback) => void setTimeout(callback, ms).unref(),
};

/** Monotonic time in milliseconds from an origin that all threads of the process share. */
export function threadTime(): number {
  return performance.timeOrigin + performance.now();
}
