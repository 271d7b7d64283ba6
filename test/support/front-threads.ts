/** Returns the arguments of `serve` for some front-end threads. They need a separate listener for the metrics host. */
export function frontThreads(count: number): string[] {
  return count === 0 ? ['--threads', '0'] : ['--threads', `${count}`, '--metrics-listen', '127.0.0.1:0'];
}
