import type { LoadReport } from '../../src/bench/load/plan.ts';
import { note } from '../benchmark.ts';
import { load } from '../load.ts';
import { median, round } from '../numbers.ts';
import { cpuSeconds, rssMb } from '../process-stats.ts';
import { sendRequests } from '../service.ts';
import type { Peer, PeerCounts, PeerRequest, RunningPeer } from './peer.ts';

export interface PeerPlan {
  readonly connections: number;
  readonly seconds: number;
  readonly rounds: number;
}

/** Figures of a program. Latencies are measured at half of its maximum rate. */
export interface PeerFigures {
  readonly name: string;
  readonly uniqueUsers: string;
  readonly rps: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of all processes of the program per request, µs. */
  readonly cpuUs: number;
  /** Resident memory of the process that serves the requests, MiB. */
  readonly rssMb: number;
  /** Durability of the counts; `undefined` for a program without counts. */
  readonly durability: Durability | undefined;
}

export interface Durability {
  /** Length in seconds of the period before SIGKILL from which accepted counts are missing after a restart. */
  readonly lostSeconds: number;
  /** Number of times that a request counts if it is sent twice. */
  readonly retryCounts: number;
}

/** Pause after a run. It is longer than the interval at which programs store buffered counts. */
const settleMs = 7_000;
const pollMs = 200;

/**
 * Measures the programs alternately, under the same conditions. They run first at full speed, and then at half of their
 * rate. Finally, each program is killed under load.
 */
export async function measurePeers(peers: readonly Peer[], plan: PeerPlan): Promise<PeerFigures[]> {
  const all: { peer: Peer; running: RunningPeer; runs: LoadReport[]; cpu: number; checks: number }[] = [];
  try {
    for (const peer of peers) all.push({ peer, running: await peer.start(), runs: [], cpu: 0, checks: 0 });
    for (let turn = 1; turn <= plan.rounds; turn++) {
      for (const each of all) {
        const before = sumCpuSeconds(each.running);
        each.runs.push(await drive(each, plan));
        each.cpu += sumCpuSeconds(each.running) - before;
      }
      note(
        `round ${turn}: ${all.map(({ running, runs }) => `${running.name} ${round(runs.at(-1)!.rps)}/s`).join('; ')}`,
      );
    }
    const figures: PeerFigures[] = [];
    for (const { peer, running, runs, cpu, checks } of all) {
      const rps = median(runs.map((run) => run.rps));
      const requests = runs.reduce((sum, run) => sum + run.requests, 0);
      const memory = rssMb(running.pid);
      const each = { peer, running, checks };
      const half = await drive(each, plan, Math.max(1, rps / 2));
      figures.push({
        name: running.name,
        uniqueUsers: peer.uniqueUsers,
        rps: round(rps),
        p50Ms: round(half.p50, 2),
        p99Ms: round(half.p99, 2),
        cpuUs: round((cpu * 1e6) / requests),
        rssMb: round(memory),
        durability: running.counts && (await measureDurability(each, running.counts, plan)),
      });
    }
    return figures;
  } finally {
    for (const { running } of all) await running.stop();
  }
}

interface Driven {
  readonly peer: Peer;
  readonly running: RunningPeer;
  /** Number of flag checks in all accepted requests. */
  checks: number;
}

async function drive(driven: Driven, { connections, seconds }: PeerPlan, rate?: number): Promise<LoadReport> {
  const { peer, running } = driven;
  const requests = running.requests();
  const timing = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
  const report = await sendRequests(
    running.http,
    requests.map(({ text }) => text),
    { ...timing, status: peer.status, ...(peer.time && { time: peer.time }), ...(rate && { rate }) },
  );
  driven.checks += checksIn(report, requests);
  return report;
}

function checksIn({ accepted }: LoadReport, requests: readonly PeerRequest[]): number {
  return requests.reduce((sum, { checks }, index) => sum + checks * (accepted[index] ?? 0), 0);
}

/** Verifies the counts of a program, its losses by a SIGKILL under load, and the effect of a retry. */
async function measureDurability(driven: Driven, counts: PeerCounts, plan: PeerPlan): Promise<Durability> {
  const { running, peer } = driven;
  const stored = await settled(counts, driven.checks);
  if (stored !== driven.checks) note(`WRONG COUNTS of ${running.name}: accepted ${driven.checks}, stored ${stored}`);
  const retried = counts.retried();
  await sendRequests(running.http, [retried.text], {
    connections: 1,
    warmupSeconds: 0,
    seconds: 10,
    limit: 2,
    status: peer.status,
  });
  const before = await settled(counts, stored + 2 * retried.checks);
  const accepted = await killUnderLoad(driven, counts, plan);
  await counts.restart();
  const lost = Math.max(0, accepted - ((await settled(counts, before + accepted)) - before));
  const lostSeconds = lost === 0 ? 0 : (lost / accepted) * killAfter(plan);
  return { lostSeconds, retryCounts: (before - stored) / retried.checks };
}

/**
 * Returns the seconds until the program is killed. They exceed the interval at which programs store buffered counts.
 */
function killAfter({ seconds }: PeerPlan): number {
  return 2 * seconds;
}

/** Kills a program under load. @returns the number of checks in requests that were accepted before the kill */
async function killUnderLoad({ peer, running }: Driven, counts: PeerCounts, plan: PeerPlan): Promise<number> {
  const [host, port] = running.http.split(':') as [string, string];
  const requests = running.requests();
  const report = load({
    host,
    port: Number(port),
    requests: requests.map(({ text }) => text),
    connections: plan.connections,
    warmupSeconds: 0,
    seconds: 2 * killAfter(plan),
    status: peer.status,
    ...(peer.time && { time: peer.time }),
  });
  await Bun.sleep(killAfter(plan) * 1000);
  await counts.kill();
  return checksIn(await report, requests);
}

/** Returns the stored checks when they have reached the expected number, or have stopped growing. */
async function settled(counts: PeerCounts, expected: number): Promise<number> {
  let total = await counts.total();
  for (let since = performance.now(); total < expected && performance.now() - since < settleMs; ) {
    await Bun.sleep(pollMs);
    const later = await counts.total();
    if (later !== total) since = performance.now();
    total = later;
  }
  return total;
}

function sumCpuSeconds(running: RunningPeer): number {
  return running.processes().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}
