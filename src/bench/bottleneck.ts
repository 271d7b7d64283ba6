import { type Measurement, ownCores, type ThreadRole } from './measurement.ts';

export type Limit =
  | 'generator'
  | 'cores'
  | 'other processes'
  | 'disk'
  | 'waiting'
  | Exclude<ThreadRole, 'other'>;

/** What limits the throughput of a stage, with the evidence. */
export interface Bottleneck {
  readonly limit: Limit;
  readonly reason: string;
  readonly remedy: string;
}

/** From this share of its core, a thread has nothing left. */
const full = 0.85;
/** From this share of all cores, threads wait for a core. */
const crowded = 0.9;
/** From this share of all cores, other processes matter. */
const foreign = 0.2;
/** From this share of the time in commits, the disk sets the pace. */
const committing = 0.6;

const remedies: Readonly<Record<Limit, string>> = {
  generator: 'The server may answer more than this: drive it from more cores.',
  cores: 'Server and generator share the cores: without the generator, the server answers more.',
  'other processes': 'Measure again when the machine is idle.',
  'front end': 'Add front-end threads (--threads) if there are idle cores.',
  main: 'Add front-end threads (--metrics-listen and --threads), or use several machines.',
  journal:
    'The thread that writes the journal is at its limit: use larger commits (--commit-delay), or several machines.',
  fold: 'Divide the applications among more threads (--workers).',
  disk: 'Use a disk with faster flushes, or more connections, whose packets share a flush.',
  waiting: 'More connections may carry more.',
};

/** Names the bottleneck of a closed loop. @param cores cores of the machine */
export function bottleneckOf(measurement: Measurement, cores: number): Bottleneck {
  const [limit, reason] = limitOf(measurement, cores);
  return { limit, reason, remedy: remedies[limit] };
}

function limitOf(measurement: Measurement, cores: number): readonly [Limit, string] {
  const { threads, generatorBusiest, commitShare = 0, foreignCores = 0 } = measurement;
  const known = threads.filter(({ role }) => role !== 'other');
  const busiest = known.toSorted((a, b) => b.cores - a.cores)[0];
  const used = ownCores(measurement);
  if (generatorBusiest >= full && generatorBusiest > (busiest?.cores ?? 0))
    return ['generator', `The load generator uses ${percent(generatorBusiest)} of a core.`];
  if (busiest !== undefined && busiest.cores >= full)
    return [busiest.role as Limit, `The ${busiest.role} thread uses ${percent(busiest.cores)} of a core.`];
  if (used + foreignCores >= crowded * cores && foreignCores >= foreign * cores)
    return ['other processes', `Other processes use ${foreignCores.toFixed(1)} of ${cores} cores.`];
  if (used >= crowded * cores)
    return ['cores', `Server and generator use ${Math.min(used, cores).toFixed(1)} of ${cores} cores.`];
  if (commitShare >= committing)
    return ['disk', `Commits are under way ${percent(commitShare)} of the time, and no thread is busy.`];
  return ['waiting', 'No thread, core or disk is at its limit.'];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
