import { type Bottleneck, bottleneckOf } from './bottleneck.ts';
import { countOf, isSame, type Measurement } from './measurement.ts';
import {
  ceilingsOf,
  isSound,
  type Recommendation,
  recommend,
  type Saving,
  type Sustained,
  savingOf,
  sustainedOf,
} from './recommendation.ts';
import type { Combination } from './sweep.ts';
import type { Swept } from './sweep-runner.ts';

/** The machine and the program that were measured. */
export interface Machine {
  readonly version: string;
  readonly cores: number;
  readonly processor: string;
  /** Bytes. */
  readonly memory: number;
  /** Unix ms. */
  readonly at: number;
}

/** The result of a bench, which the terminal, the report and `--json` show. */
export interface Outcome {
  readonly machine: Machine;
  readonly base: Combination;
  readonly measurements: readonly Measurement[];
  /** `undefined` without a stage, or if the server is not ours. */
  readonly bottleneck: Bottleneck | undefined;
  readonly recommendation: Recommendation | undefined;
  readonly saving: Saving | undefined;
  readonly sustained: Sustained | undefined;
  /** Whether every acknowledged packet was in the usage report, and no other. */
  readonly exact: boolean;
  /** Remarks on the measurement. */
  readonly notes: readonly string[];
}

/** Draws the conclusions. @param own whether the server was started for the sweep */
export function conclude(
  { measurements, candidate }: Pick<Swept, 'measurements' | 'candidate'>,
  base: Combination,
  machine: Machine,
  notes: readonly string[],
  own: boolean,
): Outcome {
  const known = measurements.length > 0;
  const recommendation = own && known ? recommend(measurements, base, candidate ?? base) : undefined;
  const best = { ...base, ...recommendation?.settings };
  const ceilings = ceilingsOf(measurements).filter(({ combination }) => isSame(combination, best));
  const ceiling = ceilings.findLast(isSound) ?? ceilings.at(-1);
  return {
    machine,
    base,
    measurements,
    bottleneck: own && ceiling !== undefined ? bottleneckOf(ceiling, machine.cores) : undefined,
    recommendation,
    saving: own && known ? savingOf(measurements, base) : undefined,
    sustained: known ? sustainedOf(measurements, best) : undefined,
    exact: measurements.every(({ difference }) => difference === undefined),
    notes: [...notes, ...noiseOf(recommendation), ...warningsOf(measurements)],
  };
}

/** Largest spread of the base without a note. */
const mostSpread = 0.15;

function noiseOf(recommendation: Recommendation | undefined): readonly string[] {
  const { lowest = 0, highest = 0 } = recommendation?.base ?? {};
  const spread = lowest === 0 ? 0 : highest / lowest - 1;
  if (spread <= mostSpread) return [];
  const percent = Math.round(spread * 100);
  return [
    `The ceilings of the base differ by ${percent} %: something else used the machine or the disk. Measure again when it is idle.`,
  ];
}

function warningsOf(measurements: readonly Measurement[]): readonly string[] {
  const kinds = new Set(measurements.flatMap(({ errorKinds }) => Object.keys(errorKinds)));
  const wrong = measurements.find(({ difference }) => difference !== undefined);
  const disturbed = measurements.filter(({ isDisturbed }) => isDisturbed).length;
  const open = measurements.filter(({ share }) => share !== undefined);
  const late = open.filter(({ p99, generatorP99 }) => generatorP99 > p99 / 2).length;
  return [
    ...(kinds.size === 0 ? [] : [`Some packets failed: ${[...kinds].join(', ')}.`]),
    ...(wrong === undefined
      ? []
      : [`The usage report differs from the acknowledged packets: ${wrong.difference}.`]),
    ...(disturbed === 0
      ? []
      : [
          `Other processes disturbed ${disturbed} of ${measurements.length} stages, which the conclusions leave out.`,
        ]),
    ...(late === 0
      ? []
      : [
          `In ${late} of ${countOf(open.length, 'stage')} at a fixed rate, the generator's own delays exceed half of the 99th percentile.`,
        ]),
  ];
}
