import { note } from '../benchmark.ts';
import { inTurn } from '../rounds.ts';

/** One of two compared executables, with the subject of its measurements: a service, a store. */
export class Side<Subject> {
  readonly name: string;
  #subject: Subject | undefined;

  constructor(name: string, subject: Subject | undefined) {
    this.name = name;
    this.#subject = subject;
  }

  /** `undefined` if the executable is unable to do what is measured, such as an older one that lacks a route. */
  get subject(): Subject | undefined {
    return this.#subject;
  }

  /** Does work with the subject. After a failure the side has no subject, and its figures are not available. */
  async attempt<Result>(work: (subject: Subject) => Promise<Result>): Promise<Result | undefined> {
    if (this.#subject === undefined) return undefined;
    try {
      return await work(this.#subject);
    } catch (error) {
      note(`NOT AVAILABLE in the ${this.name} executable: ${(error as Error).message}`);
      this.#subject = undefined;
      return undefined;
    }
  }

  /** The samples of each round; none if the side has no subject. */
  available<Sample>(samples: readonly (Sample | undefined)[]): readonly Sample[] {
    return this.#subject === undefined ? [] : samples.filter((sample) => sample !== undefined);
  }
}

/** Both executables. */
export type Sides<Subject> = readonly [previous: Side<Subject>, current: Side<Subject>];

/** Prepares the measurements of both executables, one after the other. */
export async function prepareSides<Subject>(
  [previous, current]: readonly [previous: string, current: string],
  prepare: (name: string, binary: string) => Promise<Subject>,
): Promise<Sides<Subject>> {
  const side = async (name: string, binary: string) => {
    const path = new Side(name, binary);
    return new Side(name, await path.attempt(() => prepare(name, binary)));
  };
  return [await side('previous', previous), await side('new', current)];
}

/** Samples both executables in alternating rounds. */
export async function sampleSides<Subject, Sample>(
  rounds: number,
  sides: Sides<Subject>,
  sample: (subject: Subject) => Promise<Sample>,
): Promise<[readonly Sample[], readonly Sample[]]> {
  const samples = await inTurn(
    rounds,
    sides.map((side) => () => side.attempt(sample)),
  );
  const [previous, current] = sides.map((side, at) => side.available(samples[at]!));
  return [previous!, current!];
}
