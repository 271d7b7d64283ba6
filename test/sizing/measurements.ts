import type { Measurement } from '../../src/bench/measurement.ts';

/** Returns a measurement of the maximum rate, with the given fields replaced. */
export function measured(given: Partial<Measurement> = {}): Measurement {
  return {
    combination: { threads: 1, 'commit-delay': 0 },
    transport: 'http',
    connections: 256,
    packetsPerSecond: 50_000,
    p50: 1,
    p99: 4,
    p999: 9,
    threads: [],
    generatorCores: 0.4,
    generatorBusiest: 0.4,
    generatorP50: 0.1,
    generatorP99: 0.2,
    othersP99: 3.8,
    errors: 0,
    errorKinds: {},
    ...given,
  };
}
