import { availableParallelism, cpus } from 'node:os';

/** Time of all processors of the machine so far, ms. */
interface ProcessorTime {
  readonly busy: number;
  readonly idle: number;
}

export function readProcessorTime(): ProcessorTime {
  const times = cpus().map((each) => each.times);
  return {
    busy: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0),
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
  };
}

/** Cores that were busy between two readings, with all processes of the machine. */
export function busyCores(
  before: ProcessorTime,
  after: ProcessorTime,
  cores = availableParallelism(),
): number {
  const busy = after.busy - before.busy;
  const all = busy + after.idle - before.idle;
  return all === 0 ? 0 : (busy / all) * cores;
}
