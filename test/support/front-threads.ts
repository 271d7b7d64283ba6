/** Arguments of `serve` for a number of front-end threads, which need a listener of the metrics host. */
export function frontThreads(count: number): string[] {
  return count === 0 ? ['--threads', '0'] : ['--threads', `${count}`, '--metrics-listen', '127.0.0.1:0'];
}
