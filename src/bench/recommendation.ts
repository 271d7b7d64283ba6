import { formatCombination, isSame, type Measurement, ownCores, type ThreadRole } from './measurement.ts';
import { type Combination, type Dimension, dimensions } from './sweep.ts';

/** Minimum relative gain of recommended settings, because a few repetitions can have a small spread by chance. */
const leastGain = 0.03;
/** Share of the disk writes that a commit delay must save to be worth its latency. */
const leastSaving = 0.2;
/** Maximum 99th percentile of latencies at a sustained rate, without the generator's own delays, ms. */
const sustainedP99 = 50;
const secondsPerDay = 86_400;

/** The ceilings (packets per second at full load) in several measurements of one combination. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  readonly count: number;
}

export interface Recommendation {
  /** Recommended options of `serve` that differ from the base. */
  readonly settings: Combination;
  readonly reason: string;
  readonly base: Spread;
  /** The ceilings of the recommended combination; absent if the base is recommended. */
  readonly chosen?: Spread;
}

/** A setting that reduces disk writes and increases latency. */
export interface Saving {
  readonly settings: Combination;
  readonly reason: string;
}

/** The rate that the machine sustains. */
export interface SustainedRate {
  readonly packetsPerSecond: number;
  /** Share of the ceiling. */
  readonly share: number;
  /** 99th percentile of the latencies without the generator's own delays, and 99th percentile of these delays. */
  readonly p99: number;
  readonly generatorP99: number;
  readonly bytesPerDay?: number;
}

/** Returns the ceilings: the closed loops with the most connections, over the first transport. */
export function findCeilings(all: readonly Measurement[]): readonly Measurement[] {
  const transport = all[0]?.transport;
  const closed = all.filter((each) => each.share === undefined && each.transport === transport);
  const most = Math.max(...closed.map(({ connections }) => connections));
  return closed.filter(({ connections }) => connections === most);
}

/** Returns the spread of the ceilings of one combination, without distorted or failed stages. */
export function computeSpread(all: readonly Measurement[], combination: Combination): Spread {
  const rates = findCeilings(all)
    .filter((each) => isSound(each) && isSame(each.combination, combination))
    .map(({ packetsPerSecond }) => packetsPerSecond)
    .toSorted((a, b) => a - b);
  const low = rates[Math.floor((rates.length - 1) / 2)] ?? 0;
  const high = rates[Math.floor(rates.length / 2)] ?? 0;
  return { median: (low + high) / 2, lowest: rates[0] ?? 0, highest: rates.at(-1) ?? 0, count: rates.length };
}

/** Combines the best value of each dimension into one candidate, which is then measured. Small gains are ignored. */
export function chooseCandidate(all: readonly Measurement[], base: Combination): Combination {
  const usual = computeSpread(all, base).median;
  if (usual === 0) return base;
  const ceilings = findCeilings(all).filter(isSound);
  const best = dimensions.flatMap((name): readonly (readonly [Dimension, number])[] => {
    const own = ceilings.filter(({ combination }) => differsOnlyIn(name, combination, base));
    const top = own.toSorted((a, b) => b.packetsPerSecond - a.packetsPerSecond)[0];
    if (top === undefined || top.packetsPerSecond < usual * (1 + leastGain)) return [];
    return [[name, top.combination[name]!]];
  });
  return { ...base, ...Object.fromEntries(best) };
}

function differsOnlyIn(name: Dimension, combination: Combination, base: Combination): boolean {
  return dimensions.every((each) => (each === name) !== (combination[each] === base[each]));
}

/** True if a stage had no errors and correct counts, and other processes did not distort it. */
export function isSound({ errors, difference, isDisturbed }: Measurement): boolean {
  return errors === 0 && difference === undefined && !isDisturbed;
}

/** Recommends the candidate only if its slowest repetition is faster than the fastest repetition of the base. */
export function recommend(all: readonly Measurement[], base: Combination, candidate: Combination): Recommendation {
  const usual = computeSpread(all, base);
  if (usual.count === 0)
    return { settings: {}, reason: 'Each stage of the base failed, or was disturbed by other processes.', base: usual };
  if (isSame(base, candidate))
    return { settings: {}, reason: 'No setting of the sweep was faster than the base.', base: usual };
  const chosen = computeSpread(all, candidate);
  const gain = chosen.median / usual.median - 1;
  const name = formatCombination(candidate, base);
  if (chosen.count < 2 || usual.count < 2)
    return { settings: {}, reason: `The gain of ${name} was not measured again without a disturbance.`, base: usual };
  if (chosen.lowest <= usual.highest || gain < leastGain)
    return { settings: {}, reason: `The gain of ${name} is within the noise.`, base: usual, chosen };
  const settings = Object.fromEntries(
    Object.entries(candidate).filter(([key, value]) => base[key as Dimension] !== value),
  );
  const reason = `${name} handles ${Math.round(gain * 100)} % more packets/s than the base.`;
  return { settings, reason, base: usual, chosen };
}

/** Finds the commit delay that saves the most disk writes; `undefined` if no delay saves enough at every rate. */
export function findSaving(all: readonly Measurement[], base: Combination): Saving | undefined {
  const open = all.filter((each) => isSound(each) && each.share !== undefined && each.transport === all[0]?.transport);
  const usual = open.filter(({ combination }) => isSame(combination, base));
  const delayed = open.filter(({ combination }) => differsOnlyIn('commit-delay', combination, base));
  const found = [...new Set(delayed.map(({ combination }) => combination['commit-delay']!))].flatMap((delay) => {
    const own = delayed.filter(({ combination }) => combination['commit-delay'] === delay);
    const savings = usual.map((each) =>
      savedBy(
        own.find(({ share }) => share === each.share),
        each,
      ),
    );
    const saved = Math.min(...savings);
    return savings.length > 0 && saved >= leastSaving ? [{ delay, saved, own: own[0]! }] : [];
  });
  const best = found.toSorted((a, b) => b.saved - a.saved)[0];
  if (best === undefined) return undefined;
  const before = usual.find(({ share }) => share === best.own.share)!;
  const saved = `writes at least ${Math.round(best.saved * 100)} % fewer bytes per packet`;
  const cost = `At ${Math.round(best.own.share! * 100)} % load its median latency is ${best.own.p50.toFixed(1)} ms, not ${before.p50.toFixed(1)} ms`;
  return { settings: { 'commit-delay': best.delay }, reason: `commit-delay ${best.delay} ${saved}. ${cost}.` };
}

function savedBy(own: Measurement | undefined, usual: Measurement): number {
  if (!own?.bytesPerPacket || !usual.bytesPerPacket) return 0;
  return 1 - own.bytesPerPacket / usual.bytesPerPacket;
}

/** Finds the highest offered rate at which the server kept pace, with latencies within `sustainedP99`. */
export function findSustainedRate(all: readonly Measurement[], combination: Combination): SustainedRate | undefined {
  const best = all
    .filter((each) => each.transport === all[0]?.transport && isSame(each.combination, combination))
    .filter((each) => each.offered !== undefined && isSound(each))
    .filter((each) => each.othersP99 <= sustainedP99 && each.packetsPerSecond >= each.offered! * 0.98)
    .toSorted((a, b) => b.packetsPerSecond - a.packetsPerSecond)[0];
  if (best === undefined) return undefined;
  const { packetsPerSecond, share = 1, othersP99: p99, generatorP99, bytesPerPacket } = best;
  const bytesPerDay = bytesPerPacket === undefined ? undefined : bytesPerPacket * packetsPerSecond * secondsPerDay;
  return { packetsPerSecond, share, p99, generatorP99, ...(bytesPerDay !== undefined && { bytesPerDay }) };
}

type Limit = 'generator' | 'cores' | 'other processes' | 'disk' | 'waiting' | Exclude<ThreadRole, 'other'>;

/** The resource that limits the throughput of a stage, and the evidence for it. */
export interface Bottleneck {
  readonly limit: Limit;
  readonly reason: string;
  readonly remedy: string;
}

/** Minimum share of a core at which a thread counts as fully used. */
const full = 0.85;
/** Minimum share of all cores in use at which threads wait for a core. */
const crowded = 0.9;
/** Minimum share of all cores at which other processes limit a stage. */
const foreign = 0.2;
/** Minimum share of time in commits at which the disk is the bottleneck. */
const committing = 0.6;

const remedies: Readonly<Record<Limit, string>> = {
  generator: 'The server might handle more: give the load generator more cores.',
  cores: 'The server and the load generator share the cores. Without the generator, the server handles more.',
  'other processes': 'Measure again when the machine is idle.',
  'front end': 'Add front-end threads (--threads) if there are idle cores.',
  main: 'Add front-end threads (--metrics-listen and --threads), or use several machines.',
  journal:
    'The thread that writes the journal is at its limit: use larger commits (--commit-delay), or several machines.',
  fold: 'Divide the applications among more threads (--workers).',
  disk: 'Use a disk with faster flushes, or more connections, whose packets share a flush.',
  waiting: 'More connections might achieve more.',
};

/** Finds the bottleneck of a closed loop. @param cores number of cores of the machine */
export function findBottleneck(measurement: Measurement, cores: number): Bottleneck {
  const [limit, reason] = findLimit(measurement, cores);
  return { limit, reason, remedy: remedies[limit] };
}

function findLimit(measurement: Measurement, cores: number): readonly [Limit, string] {
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
    return ['cores', `The server and the load generator use ${Math.min(used, cores).toFixed(1)} of ${cores} cores.`];
  if (commitShare >= committing)
    return ['disk', `Commits are in progress ${percent(commitShare)} of the time, and no thread is busy.`];
  return ['waiting', 'No thread, core or disk is at its limit.'];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
