import { cleanUp } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { counter } from './peers/counter.ts';
import { createTokenPeer, messagesTo, packetsTo } from './peers/flagmeter.ts';
import { type Durability, measurePeers, type PeerFigures } from './peers/measure.ts';
import type { Peer } from './peers/peer.ts';
import { provider } from './peers/provider.ts';
import { unleashClient, unleashFrontend } from './peers/unleash.ts';

/** Programs with the same purpose as flagmeter, by purpose. */
const jobs: Readonly<Record<string, (binary: string) => readonly Peer[]>> = {
  packets: (binary) => [packetsTo(binary), counter, unleashFrontend],
  messages: (binary) => [messagesTo(binary), unleashClient],
  tokens: (binary) => [createTokenPeer(binary), provider],
};

/** Compares flagmeter with other programs on this machine, under the load of the same generator. */
export const peers: Benchmark = {
  summary: 'other programs compared with flagmeter: unleash-server, a counter on PostgreSQL, oidc-provider',
  usage: '[--json|--markdown] [--connections 64] [--seconds 4] [--rounds 2] [--small] [PART …]',
  async run(args) {
    const words = args.filter((word) => word === '--markdown' || Object.hasOwn(jobs, word));
    const options = readOptions(
      args.filter((word) => !words.includes(word)),
      { connections: 64, seconds: 4, rounds: 2 },
      { connections: 4, seconds: 0.25, rounds: 1 },
    );
    const named = Object.keys(jobs).filter((job) => words.includes(job));
    const figures: PeerFigures[] = [];
    try {
      for (const job of named.length > 0 ? named : Object.keys(jobs)) {
        note(`${job} …`);
        figures.push(...(await measurePeers(jobs[job]!(options.binary), options)));
      }
    } finally {
      cleanUp();
    }
    const rows = [heading, ...figures.map(formatRow)];
    if (words.includes('--markdown')) process.stdout.write(markdown(rows));
    else show(options.json, { figures }, rows);
  },
};

const heading = [
  'Program',
  'requests/s',
  'p50 ms',
  'p99 ms',
  'µs CPU',
  'MiB',
  'lost at SIGKILL',
  'a retry counts',
  'unique users',
];

function formatRow({ name, rps, p50Ms, p99Ms, cpuUs, rssMb, durability, uniqueUsers }: PeerFigures): string[] {
  const speed = [rps.toLocaleString('en-GB'), p50Ms.toFixed(2), p99Ms.toFixed(2)];
  return [name, ...speed, cpuUs.toLocaleString('en-GB'), `${rssMb}`, ...guarantees(durability), uniqueUsers];
}

function guarantees(durability: Durability | undefined): string[] {
  if (durability === undefined) return ['', ''];
  const { lostSeconds, retryCounts } = durability;
  const lost = lostSeconds === 0 ? 'nothing' : `the last ${lostSeconds.toFixed(1)} s`;
  return [lost, retryCounts === 1 ? 'once' : `${retryCounts} times`];
}

function markdown([first = [], ...rows]: readonly (readonly string[])[]): string {
  const rule = first.map((_, column) => (column === 0 || column > 5 ? '---' : '--:'));
  return [first, rule, ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}
