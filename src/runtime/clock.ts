/** Where the service reads the time. It is passed in, so that a test decides the time. */
export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary origin, for ages and rates. */
  monotonic(): number;
}

/** The machine's own clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Monotonic time in milliseconds from an origin that all threads of the process share. */
export function threadTime(): number {
  return performance.timeOrigin + performance.now();
}
