import { note } from '../benchmark.ts';
import { inTurn } from '../rounds.ts';

/** One of the compared executables, with the object that is measured, such as a service or a store. */
export class Side<Trial> {
  readonly name: string;
  #trial: Trial | undefined;

  constructor(name: string, trial: Trial | undefined) {
    this.name = name;
    this.#trial = trial;
  }

  /**
   * The measured object; `undefined` if the executable cannot be measured, for example because an older executable
   * lacks a route.
   */
  get trial(): Trial | undefined {
    return this.#trial;
  }

  /** Measures the object. If this fails, the figures of this side are not available. */
  async attempt<Result>(work: (trial: Trial) => Promise<Result>): Promise<Result | undefined> {
    if (this.#trial === undefined) return undefined;
    try {
      return await work(this.#trial);
    } catch (error) {
      note(`NOT AVAILABLE in the ${this.name} executable: ${(error as Error).message}`);
      this.#trial = undefined;
      return undefined;
    }
  }

  /** Returns the samples of all rounds, or an empty list if this side is not available. */
  available<Sample>(samples: readonly (Sample | undefined)[]): readonly Sample[] {
    return this.#trial === undefined ? [] : samples.filter((sample) => sample !== undefined);
  }
}

/** The two compared executables. */
export type Sides<Trial> = readonly [previous: Side<Trial>, current: Side<Trial>];

/** Prepares the measured objects of both executables, one after the other. */
export async function prepareSides<Trial>(
  [previous, current]: readonly [previous: string, current: string],
  prepare: (name: string, binary: string) => Promise<Trial>,
): Promise<Sides<Trial>> {
  const side = async (name: string, binary: string) => {
    const path = new Side(name, binary);
    return new Side(name, await path.attempt(() => prepare(name, binary)));
  };
  return [await side('previous', previous), await side('new', current)];
}

/** Measures both executables in alternating rounds. */
export async function sampleSides<Trial, Sample>(
  rounds: number,
  sides: Sides<Trial>,
  sample: (trial: Trial) => Promise<Sample>,
): Promise<[readonly Sample[], readonly Sample[]]> {
  const samples = await inTurn(
    rounds,
    sides.map((side) => () => side.attempt(sample)),
  );
  const [previous, current] = sides.map((side, at) => side.available(samples[at]!));
  return [previous!, current!];
}
