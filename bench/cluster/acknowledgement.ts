import { createPackets, ingestMix } from '../../src/bench/load/packets.ts';
import type { LoadReport } from '../../src/bench/load/plan.ts';
import { stop } from '../../test/support/binary.ts';
import { note } from '../benchmark.ts';
import { median, round } from '../numbers.ts';
import { cpuSeconds } from '../process-stats.ts';
import { type Service, sendPackets } from '../service.ts';
import { atLeast, type Figure } from './figure.ts';
import type { Stage } from './stage.ts';

/**
 * Sends packets to a node with PostgreSQL and to a server without PostgreSQL, in alternating rounds. Measures both at
 * full speed and at half speed.
 */
export async function acknowledgement(
  stage: Stage,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Figure[]> {
  const single = await stage.single();
  const node = await (await stage.cluster()).node();
  const drive = async (service: Service, rate?: number): Promise<Driven> => {
    const before = cpuSeconds(service.pid);
    const report = await sendPackets(service.http, createPackets(ingestMix, service.key), {
      connections: 64,
      seconds,
      warmupSeconds: Math.min(1, seconds / 5),
      ...(rate === undefined ? {} : { rate }),
    });
    return { ...report, cpuUs: ((cpuSeconds(service.pid) - before) * 1e6) / report.requests };
  };
  const speeds: [Driven, Driven][] = [];
  const latencies: [Driven, Driven][] = [];
  for (let turn = 0; turn < rounds; turn += 1) {
    speeds.push(
      await pair(
        turn,
        () => drive(single),
        () => drive(node),
      ),
    );
    const rate = median(speeds.flat().map(({ rps }) => rps)) / 2;
    latencies.push(
      await pair(
        turn,
        () => drive(single, rate),
        () => drive(node, rate),
      ),
    );
    const [alone, within] = speeds.at(-1)!;
    const [aloneUs, withinUs] = [alone, within].map(({ cpuUs }) => round(cpuUs, 1));
    note(
      `round ${turn + 1}: alone ${round(alone.rps)}/s, ${aloneUs} µs of CPU; with PostgreSQL ${round(within.rps)}/s, ${withinUs} µs`,
    );
  }
  await Promise.all([stop(single), stop(node)]);
  const ratio = (of: (pair: [Driven, Driven]) => number, pairs: [Driven, Driven][]) => median(pairs.map(of));
  return [
    atLeast(
      'packets/s ratio: with PostgreSQL to without PostgreSQL',
      ratio(([a, b]) => b.rps / a.rps, speeds),
      0.95,
    ),
    atLeast(
      'ratio of CPU per packet: without PostgreSQL to with PostgreSQL',
      ratio(([a, b]) => a.cpuUs / b.cpuUs, speeds),
      0.95,
    ),
    atLeast(
      'p50 ratio: without PostgreSQL to with PostgreSQL',
      ratio(([a, b]) => a.p50 / b.p50, latencies),
      0.95,
    ),
    atLeast(
      'p99 ratio: without PostgreSQL to with PostgreSQL',
      ratio(([a, b]) => a.p99 / b.p99, latencies),
      0.95,
    ),
  ];
}

interface Driven extends LoadReport {
  /** CPU time of the server per packet. */
  readonly cpuUs: number;
}

/** Runs both actions one after the other. In odd turns, the second action runs first. */
async function pair<T>(turn: number, one: () => Promise<T>, other: () => Promise<T>): Promise<[T, T]> {
  if (turn % 2 === 0) return [await one(), await other()];
  const second = await other();
  return [await one(), second];
}
