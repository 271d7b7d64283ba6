import { Server, ServerCredentials } from '@grpc/grpc-js';
import { encodeReport } from '../src/bench/load/reports.ts';

/**
 * The floor for gRPC: a grpc-js handler that returns a constant and does not read the message. It runs as a separate
 * process: `bun bench/floor-grpc.ts` prints `floor ready http=HOST:PORT`.
 */
const { response: statResult } = encodeReport('', new Date());
const asItIs = (bytes: Buffer): Buffer => bytes;

/** Channelz is disabled, because it would count each call for a diagnostic service, which is not used. */
const server = new Server({ 'grpc.enable_channelz': 0 });
const method = {
  path: '/Usage.Usage/SendStats',
  requestStream: false,
  responseStream: false,
  requestSerialize: asItIs,
  requestDeserialize: asItIs,
  responseSerialize: asItIs,
  responseDeserialize: asItIs,
};
server.addService(
  { SendStats: method },
  { SendStats: (_: unknown, answer: (error: null, value: Buffer) => void) => answer(null, statResult) },
);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stdout.write(`floor ready http=127.0.0.1:${port}\n`);
});
