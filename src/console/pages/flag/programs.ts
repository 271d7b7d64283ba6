import type { Sender } from '../../../contract/shapes/verdict.ts';
import { byProgram } from '../../parts/programs.ts';

/** A program that sends, with all of its versions. */
export interface SenderProgram {
  readonly name: string;
  /** The latest request in any environment. */
  readonly lastAt: string;
  readonly routes: readonly string[];
  /** By environment. */
  readonly environments: ReadonlyMap<string, ProgramThere>;
}

/** A program in one environment. */
export interface ProgramThere {
  readonly lastAt: string;
  /** The one with the latest request first. A sender without a version has none. */
  readonly versions: readonly string[];
}

/** Groups senders by program. */
export function programsOf(senders: readonly Sender[]): SenderProgram[] {
  return byProgram(senders, ({ name }) => name).map(({ name, lastAt, entries }) => ({
    name,
    lastAt,
    routes: [...new Set(entries.map(({ route, transport }) => `${route}, ${transport}`))],
    environments: new Map(
      [...new Set(entries.map(({ environment }) => environment))].map((environment) => {
        const there = entries.filter((each) => each.environment === environment);
        const versions = new Set(there.flatMap(({ version }) => version ?? []));
        return [environment, { lastAt: there[0]!.lastAt, versions: [...versions] }];
      }),
    ),
  }));
}
