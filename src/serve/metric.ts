import type { ServiceMetric } from '../http/exposition-text.ts';

/** A counter of one value. */
export function counter(name: string, help: string, read: () => number): ServiceMetric {
  return { name, type: 'counter', help, read };
}

/** A gauge of one value. */
export function gauge(name: string, help: string, read: () => number): ServiceMetric {
  return { name, type: 'gauge', help, read };
}

/** Values by the code of a refusal. */
export function* byCode(codes: ReadonlyMap<string, number>): Iterable<readonly [{ code: string }, number]> {
  for (const [code, count] of codes) yield [{ code }, count];
}
