import { once } from 'node:events';
import { constants } from 'node:http2';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Binary, freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { describeOneTruth } from '../support/one-truth.ts';
import { grpcFrame, openRawGrpc, type RawGrpc, readEnd } from '../support/raw-grpc.ts';
import { decode, encode } from '../support/report-messages.ts';

describeOneTruth('the compiled executable', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const service = await startBinary({ data });
  return { ...service, credentials, stop: () => stop(service) };
});

describe('the gRPC listener of the compiled executable', () => {
  const maxReport = 10_000;
  let service: Binary;

  beforeAll(async () => {
    const waits = ['--shutdown-grace', '3600']; // This grace period is longer than the time limit of a test.
    service = await startBinary({ args: ['--max-report', String(maxReport), ...waits] });
  });

  async function send(path: string, message: Buffer, options = {}) {
    const client = openClient(service.grpc, options);
    try {
      return await call(client, path, message);
    } finally {
      client.close();
    }
  }

  it('the gRPC listener serves the health service', async () => {
    const { response } = await send('/grpc.health.v1.Health/Check', Buffer.alloc(0));
    expect(decode('grpc.health.v1.HealthCheckResponse', response!)).toEqual({ status: 'SERVING' });
  });

  it.each(['v1', 'v1alpha'])('the gRPC listener serves reflection %s', async (version) => {
    const name = `grpc.reflection.${version}`;
    const client = openClient(service.grpc);
    const stream = client.makeBidiStreamRequest(
      `/${name}.ServerReflection/ServerReflectionInfo`,
      (request: object) => encode(`${name}.ServerReflectionRequest`, request),
      (bytes) => decode(`${name}.ServerReflectionResponse`, bytes),
    );
    stream.write({ listServices: '' });
    stream.write({ fileContainingSymbol: 'Usage.Usage' });
    stream.end();
    const [list, file] = await stream.toArray();
    client.close();
    expect(JSON.stringify(list)).toMatch(/"Usage.Usage".*"Metrics.Metrics".*"grpc.health.v1.Health"/);
    expect(file).toMatchObject({ fileDescriptorResponse: { fileDescriptorProto: { length: 2 } } });
  });

  it.each([
    ['damaged', Buffer.from([0x0a]), {}, 3],
    ['larger than --max-report', Buffer.alloc(maxReport + 1), {}, 8],
    ['too large after decompression', Buffer.alloc(10_000_000), { 'grpc.default_compression_algorithm': 2 }, 8],
  ])('the gRPC listener refuses a message that is %s', async (_, message, options, code) => {
    expect(await send('/Usage.Usage/SendStats', message, options)).toMatchObject({ code });
  });

  it('the gRPC listener closes a connection that resets hundreds of calls, but keeps another connection open', async () => {
    const attacker = openRawGrpc(service.grpc);
    const neighbour = openRawGrpc(service.grpc);
    await Promise.all([attacker, neighbour].map(({ session }) => once(session, 'remoteSettings')));
    for (let calls = 0; calls < 100; calls += 1) await resetOne(neighbour);
    const closed = once(attacker.session, 'goaway');
    let resets = 0;
    while (!attacker.session.closed && !attacker.session.destroyed && resets < 500) {
      await resetOne(attacker);
      resets += 1;
    }
    expect((await closed)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(resets).toBeGreaterThan(200);
    const stream = neighbour.begin('/grpc.health.v1.Health/Check');
    stream.end(grpcFrame(Buffer.alloc(0)));
    expect(await readEnd(stream)).toMatchObject({ status: 0 });
    neighbour.close();
  });

  it('the gRPC listener stops immediately even while a client watches the health service', async () => {
    const client = openClient(service.grpc);
    const bytes = (value: Buffer) => value;
    const watch = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', bytes, bytes, Buffer.alloc(0));
    const seen = watch.map((answer) => decode('grpc.health.v1.HealthCheckResponse', answer)).toArray();
    await new Promise((answered) => watch.once('metadata', answered));
    expect(await stop(service)).toMatchObject({ code: 0 });
    expect(await seen).toEqual([{ status: 'SERVING' }, { status: 'NOT_SERVING' }]);
    client.close();
  });
});

/** Begins a call and resets it, as a client does when it cancels the call. */
function resetOne({ begin }: RawGrpc): Promise<void> {
  const stream = begin('/Usage.Usage/SendStats');
  return new Promise((resolve) => {
    stream.once('close', resolve);
    stream.close(constants.NGHTTP2_CANCEL);
  });
}
