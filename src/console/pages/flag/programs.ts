import type { Sender } from '../../../contract/shapes/verdict.ts';

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

/** Groups senders by program. The program with the latest request comes first. */
export function programsOf(senders: readonly Sender[]): SenderProgram[] {
  const latestFirst = senders.toSorted((a, b) => (a.lastAt < b.lastAt ? 1 : -1));
  const groups = new Map<string, Sender[]>();
  for (const sender of latestFirst) groups.set(sender.name, [...(groups.get(sender.name) ?? []), sender]);
  return Array.from(groups, ([name, all]) => ({
    name,
    lastAt: all[0]!.lastAt,
    routes: [...new Set(all.map(({ route, transport }) => `${route}, ${transport}`))],
    environments: new Map(
      [...new Set(all.map(({ environment }) => environment))].map((environment) => {
        const there = all.filter((each) => each.environment === environment);
        const versions = new Set(there.flatMap(({ version }) => version ?? []));
        return [environment, { lastAt: there[0]!.lastAt, versions: [...versions] }];
      }),
    ),
  }));
}
