import { type ClientHttp2Session, connect } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { cleanUp } from '../test/support/binary.ts';
import { grpcFrame } from '../test/support/raw-grpc.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { round } from './numbers.ts';
import { peakRssMb, rssMb } from './process-stats.ts';
import { type Service, startService } from './service.ts';

/** Measures the memory that connections without a key use in the gRPC listener, and the time until it is freed. */
export const hostileGrpc: Benchmark = {
  summary: 'resident memory while connections leave every gRPC call half sent, and after they close',
  usage:
    '[--json] [--connections 1000] [--streams 32] [--message 65536] [--seconds 10] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { connections: 1_000, streams: 32, message: 65_536, seconds: 10 };
    const options = readOptions(args, defaults, { connections: 4, streams: 4, message: 1_024, seconds: 0.1 });
    try {
      const service = await startService(options.binary);
      const result = await attack(service, options);
      show(options.json, result, [
        ['half-sent calls', `${result.calls}`],
        ['resident before', `${result.beforeMb} MiB`],
        ['resident during', `${result.duringMb} MiB`],
        ['peak resident memory', `${result.peakMb} MiB`],
        [`resident ${options.seconds} s after the end`, `${result.afterMb} MiB`],
      ]);
    } finally {
      cleanUp();
    }
  },
};

interface Attack {
  readonly connections: number;
  readonly streams: number;
  /** Size of a message in bytes. Its last byte is never sent. */
  readonly message: number;
  /** Seconds to wait after the attack has started, and again after it has ended. */
  readonly seconds: number;
}

async function attack({ grpc, pid }: Service, { connections, streams, message, seconds }: Attack) {
  const beforeMb = round(rssMb(pid), 1);
  const halfSent = grpcFrame(Buffer.alloc(message)).subarray(0, -1);
  const sessions: ClientHttp2Session[] = [];
  for (let n = 0; n < connections; n += 1) {
    sessions.push(await openCalls(grpc, streams, halfSent));
  }
  await pause(seconds * 1000);
  const duringMb = round(rssMb(pid), 1);
  for (const session of sessions) session.destroy();
  await pause(seconds * 1000);
  const afterMb = round(rssMb(pid), 1);
  return { calls: connections * streams, beforeMb, duringMb, peakMb: round(peakRssMb(pid), 1), afterMb };
}

/** Opens a connection with calls that never complete. */
async function openCalls(grpc: string, streams: number, halfSent: Buffer): Promise<ClientHttp2Session> {
  const session = connect(`http://${grpc}`);
  session.on('error', () => {});
  await new Promise<void>((resolve) => {
    session.once('connect', () => resolve());
    session.once('close', () => resolve());
  });
  for (let n = 0; n < streams && !session.destroyed; n += 1) {
    const headers = { ':method': 'POST', ':path': '/Usage.Usage/SendStats', 'content-type': 'application/grpc' };
    const stream = session.request(headers);
    stream.on('error', () => {});
    stream.resume();
    stream.write(halfSent);
  }
  return session;
}
