import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createPackets, requestText } from '../src/bench/load/packets.ts';
import { cleanUp, stop } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { thousandSeries } from './packets.ts';
import { peakRssMb, rssMb } from './process-stats.ts';
import { type Service, startService } from './service.ts';

/** Measures the memory that unauthenticated senders use with requests that never complete. */
export const hostileHttp: Benchmark = {
  summary: 'resident memory while unauthenticated senders hold connections with half-sent heads and bodies',
  usage: '[--json] [--connections 1000] [--settle 3] [--after 10] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 1_000, settle: 3, after: 10 };
    const options = readOptions(args, defaults, { connections: 20, settle: 0.1, after: 0.1 });
    try {
      const held: HeldMeasurement[] = [];
      const shared = options.small ? await startService(options.binary) : undefined;
      for (const [name, text] of shapes) {
        const service = shared ?? (await startService(options.binary));
        held.push(await hold(service, name, text, options));
        if (shared === undefined) await stop(service);
      }
      const rows = held.map(({ name, ...row }) => [
        name,
        ...[row.before, row.held, row.peak, row.after].map(mebibytes),
        `${row.open}`,
        row.others,
      ]);
      show(options.json, { connections: options.connections, shapes: held }, [
        [
          'held by unauthenticated senders',
          'before',
          'held',
          'most ever',
          `${options.after} s after`,
          'still open',
          'others',
        ],
        ...rows,
      ]);
    } finally {
      cleanUp();
    }
  },
};

interface HeldMeasurement {
  readonly name: string;
  /** Resident MiB before and during the attack, at the peak, and some seconds after its end. */
  readonly before: number;
  readonly held: number;
  readonly peak: number;
  readonly after: number;
  /** Number of connections that were still open when `held` was measured. */
  readonly open: number;
  /** Response to a packet of another client during the attack. */
  readonly others: string;
}

const post = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nOrigin: https://shop.example.com\r\nContent-Length: ${length}\r\n\r\n`;
const allButOne = (path: string, length: number) => post(path, length) + ' '.repeat(length - 1);

/** The bytes that each connection sends, by name of the attack. */
const shapes: ReadonlyMap<string, string> = new Map([
  ['nothing', ''],
  ['half a head of 15 KiB', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(15_000)}`],
  ['half a packet of 64 KiB', allButOne('/api/frontend/telemetry', 65_536)],
  ['half a report of 1 MiB', allButOne('/api/usage/stats', 1_048_576)],
]);

async function hold(
  service: Service,
  name: string,
  text: string,
  { connections, settle, after }: { connections: number; settle: number; after: number },
): Promise<HeldMeasurement> {
  note(name);
  const [host, port] = service.http.split(':') as [string, string];
  const before = rssMb(service.pid);
  const bytes = Buffer.from(text);
  const sockets = await Promise.all(Array.from({ length: connections }, () => openAndSend(host, Number(port), bytes)));
  await pause(settle * 1000);
  const open = sockets.filter(({ destroyed, readyState }) => !destroyed && readyState === 'open').length;
  const held = rssMb(service.pid);
  const others = await sendOne(service);
  for (const socket of sockets) socket.destroy();
  await pause(after * 1000);
  return { name, before, held, peak: peakRssMb(service.pid), after: rssMb(service.pid), open, others };
}

/** Sends bytes without reading the response. A connection that the server closes is not an error here. */
async function openAndSend(host: string, port: number, bytes: Buffer): Promise<Socket> {
  const socket = connect({ host, port }).on('error', () => {});
  socket.resume();
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  if (bytes.length > 0) await new Promise<void>((resolve) => void socket.write(bytes, () => resolve()));
  return socket;
}

async function sendOne({ http, key }: Service): Promise<string> {
  const text = requestText(createPackets(thousandSeries, key)[0]!, http);
  const [host, port] = http.split(':') as [string, string];
  const socket = connect({ host, port: Number(port) }).on('error', () => {});
  socket.write(text);
  const [answer] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [Buffer | boolean];
  socket.destroy();
  return typeof answer === 'boolean' ? 'closed' : answer.toString('latin1').split(' ')[1]!;
}

function mebibytes(value: number): string {
  return `${round(value, 0)} MiB`;
}
