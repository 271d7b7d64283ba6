import { cleanUp } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { acknowledgement } from './cluster/acknowledgement.ts';
import { away } from './cluster/away.ts';
import { backlog } from './cluster/backlog.ts';
import { days } from './cluster/days.ts';
import type { Figure } from './cluster/figure.ts';
import { growth } from './cluster/growth.ts';
import { limits } from './cluster/limits.ts';
import { bearers, changes } from './cluster/managing.ts';
import { shipping } from './cluster/shipping.ts';
import { openStage, type Stage } from './cluster/stage.ts';

/**
 * Measures nodes with a real PostgreSQL on this machine: their cost compared with a server without PostgreSQL, and the
 * load on PostgreSQL.
 */
export const cluster: Benchmark = {
  summary: 'nodes that share a PostgreSQL: compared with a single server, and the load on PostgreSQL',
  usage:
    '[--json] [--rounds 3] [--seconds 5] [--series 10000] [--minutes 60] [--small] [--binary dist/flagmeter] [PART …]',
  async run(args) {
    const named = args.filter((word) => Object.hasOwn(sections, word));
    const defaults = { rounds: 3, seconds: 5, series: 10_000, minutes: 60 };
    const small = { rounds: 1, seconds: 0.3, series: 200, minutes: 2 };
    const options = readOptions(
      args.filter((word) => !named.includes(word)),
      defaults,
      small,
    );
    const stage = await openStage(options.binary);
    try {
      const figures: Figure[] = [];
      for (const [name, measure] of Object.entries(sections)) {
        if (named.length > 0 && !named.includes(name)) continue;
        note(`${name} …`);
        figures.push(...(await measure(stage, options)));
      }
      print(options.json, figures);
    } finally {
      cleanUp();
      await stage.close();
    }
  },
};

interface Options {
  readonly small: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly series: number;
  readonly minutes: number;
}

/** Sections in order of execution. */
const sections: Readonly<Record<string, (stage: Stage, options: Options) => Promise<Figure[]>>> = {
  acknowledgement,
  shipping: (stage, { series, seconds }) => shipping(stage, { series, seconds: 4 * seconds }),
  backlog,
  away,
  bearers,
  changes,
  days,
  growth: (stage, { small, seconds }) =>
    growth(stage, { rates: small ? [20, 200] : [1_000, 10_000, 30_000], seconds: 4 * seconds }),
  limits,
};

function print(json: boolean, figures: readonly Figure[]): void {
  const rows = figures.map(({ name, measured, target, met }) => [
    name,
    measured,
    target,
    met === undefined ? '' : met ? 'met' : 'NOT MET',
  ]);
  show(json, { figures: figures.map(({ name, value, target, met }) => ({ name, value, target, met })) }, [
    ['', 'measured', 'target', ''],
    ...rows,
  ]);
}
