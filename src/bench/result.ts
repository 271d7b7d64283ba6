import { formatCount, isSame, type Measurement } from './measurement.ts';
import {
  type Bottleneck,
  findBottleneck,
  findCeilings,
  findSaving,
  findSustainedRate,
  isSound,
  type Recommendation,
  recommend,
  type Saving,
  type Spread,
  type SustainedRate,
} from './recommendation.ts';
import type { Combination } from './sweep.ts';
import type { Swept } from './sweep-runner.ts';
import { whole } from './table.ts';

/** The measured machine and program. */
export interface Machine {
  readonly version: string;
  readonly cores: number;
  readonly processor: string;
  /** Memory in bytes. */
  readonly memory: number;
  /** Time of the measurement, Unix ms. */
  readonly at: number;
}

/** The result of a bench. The terminal, the report and `--json` show it. */
export interface BenchResult {
  readonly machine: Machine;
  readonly base: Combination;
  readonly measurements: readonly Measurement[];
  /** `undefined` if no stage was measured, or the bench did not start the server. */
  readonly bottleneck: Bottleneck | undefined;
  readonly recommendation: Recommendation | undefined;
  readonly saving: Saving | undefined;
  readonly sustained: SustainedRate | undefined;
  /** True if the usage report contains exactly the acknowledged packets. */
  readonly exact: boolean;
  /** Remarks on the measurement. */
  readonly notes: readonly string[];
}

/** Draws the conclusions from the stages. @param own true if the bench started the server */
export function conclude(
  { measurements, candidate }: Pick<Swept, 'measurements' | 'candidate'>,
  base: Combination,
  machine: Machine,
  notes: readonly string[],
  own: boolean,
): BenchResult {
  const known = measurements.length > 0;
  const recommendation = own && known ? recommend(measurements, base, candidate ?? base) : undefined;
  const best = { ...base, ...recommendation?.settings };
  const ceilings = findCeilings(measurements).filter(({ combination }) => isSame(combination, best));
  const ceiling = ceilings.findLast(isSound) ?? ceilings.at(-1);
  return {
    machine,
    base,
    measurements,
    bottleneck: own && ceiling !== undefined ? findBottleneck(ceiling, machine.cores) : undefined,
    recommendation,
    saving: own && known ? findSaving(measurements, base) : undefined,
    sustained: known ? findSustainedRate(measurements, best) : undefined,
    exact: measurements.every(({ difference }) => difference === undefined),
    notes: [...notes, ...describeNoise(recommendation), ...listWarnings(measurements)],
  };
}

/** Relative spread of the base's measurements above which the result gets a note. */
const mostSpread = 0.15;

function describeNoise(recommendation: Recommendation | undefined): readonly string[] {
  const { lowest = 0, highest = 0 } = recommendation?.base ?? {};
  const spread = lowest === 0 ? 0 : highest / lowest - 1;
  if (spread <= mostSpread) return [];
  const percent = Math.round(spread * 100);
  return [
    `The ceilings of the base differ by ${percent} %: something else used the machine or the disk. Measure again when it is idle.`,
  ];
}

function listWarnings(measurements: readonly Measurement[]): readonly string[] {
  const kinds = new Set(measurements.flatMap(({ errorKinds }) => Object.keys(errorKinds)));
  const wrong = measurements.find(({ difference }) => difference !== undefined);
  const disturbed = measurements.filter(({ isDisturbed }) => isDisturbed).length;
  const open = measurements.filter(({ share }) => share !== undefined);
  const late = open.filter(({ p99, generatorP99 }) => generatorP99 > p99 / 2).length;
  return [
    ...(kinds.size === 0 ? [] : [`Some packets failed: ${[...kinds].join(', ')}.`]),
    ...(wrong === undefined ? [] : [`The usage report differs from the acknowledged packets: ${wrong.difference}.`]),
    ...(disturbed === 0
      ? []
      : [`Other processes disturbed ${disturbed} of ${measurements.length} stages, which the conclusions omit.`]),
    ...(late === 0
      ? []
      : [
          `In ${late} of ${formatCount(open.length, 'stage')} at a fixed rate, the generator's own delays exceed half of the 99th percentile.`,
        ]),
  ];
}

/** A conclusion and its heading. */
interface Finding {
  readonly title: string;
  readonly text: string;
}

/** Lists the conclusions of a result in words, the most important first. */
export function listFindings(result: BenchResult): readonly Finding[] {
  const { recommendation, bottleneck, sustained, saving, exact, notes, measurements } = result;
  const findings: Finding[] = [];
  if (recommendation !== undefined) {
    const { settings, reason, base, chosen } = recommendation;
    const options = formatOptions(settings);
    const candidateName = options === '' ? 'Best of the sweep' : 'Recommended';
    const spreads = [`Base: ${spreadText(base)}.`, ...(chosen ? [`${candidateName}: ${spreadText(chosen)}.`] : [])];
    const title = options === '' ? 'Keep the base settings' : `Use ${options}`;
    findings.push({ title, text: [reason, ...spreads].join(' ') });
  }
  if (saving !== undefined)
    findings.push({ title: `Fewer writes: ${formatOptions(saving.settings)}`, text: saving.reason });
  if (bottleneck !== undefined)
    findings.push({ title: `Bottleneck: ${bottleneck.limit}`, text: `${bottleneck.reason} ${bottleneck.remedy}` });
  if (sustained !== undefined) {
    const disk =
      sustained.bytesPerDay === undefined
        ? ''
        : `A day at this rate writes ${bytesText(sustained.bytesPerDay)} to the disk.`;
    const { share, p99, generatorP99 } = sustained;
    const own = `Delays of the generator itself are not included (99th percentile ${generatorP99.toFixed(1)} ms).`;
    const text = `The highest offered rate with a response to every packet, ${Math.round(share * 100)} % of the ceiling, with 99 % of responses within ${p99.toFixed(1)} ms. ${own}${disk}`;
    findings.push({ title: `Sustained: ${whole(sustained.packetsPerSecond)} packets/s`, text });
  }
  if (measurements.length > 0 && exact)
    findings.push({ title: 'Exact', text: 'Every acknowledged packet is in the usage report exactly once.' });
  return [...findings, ...notes.map((text) => ({ title: 'Note', text }))];
}

/** Formats the settings as options of `serve`. */
function formatOptions(settings: Combination): string {
  return Object.entries(settings)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
}

function spreadText({ median, lowest, highest, count }: Spread): string {
  if (count === 0) return 'no sound stage';
  if (count === 1) return `${whole(median)} packets/s, measured once`;
  return `${whole(median)} packets/s (${whole(lowest)} to ${whole(highest)} in ${count} stages)`;
}

/** Formats bytes in decimal units, which are common for disks. */
function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${(bytes / 1000 ** step).toPrecision(3)} ${units[step]}`;
}
