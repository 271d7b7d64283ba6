import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { LoadPlan, LoadReport } from '../../src/bench/load/plan.ts';
import { encodeReport } from '../../src/bench/load/reports.ts';
import { decodeUsageReport } from '../../src/ingest/formats/reports/proto.ts';

const root = resolve(import.meta.dirname, '../..');
const bun = join(root, 'node_modules/.bin/bun');

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => listener(request, response));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const path = '/Usage.Usage/SendStats';

/** Starts a gRPC server. @param answer returns the response to a message; if it returns `undefined`, the call fails */
async function serveGrpc(answer: (message: Buffer) => Buffer | undefined): Promise<number> {
  const asItIs = (bytes: Buffer) => bytes;
  const serialize = { requestSerialize: asItIs, responseSerialize: asItIs };
  const deserialize = { requestDeserialize: asItIs, responseDeserialize: asItIs };
  const method = { path, requestStream: false, responseStream: false, ...serialize, ...deserialize };
  const server = new Server();
  const send: handleUnaryCall<Buffer, Buffer> = ({ request }, done) => {
    const response = answer(request);
    if (response === undefined) done({ code: status.RESOURCE_EXHAUSTED });
    else done(null, response);
  };
  server.addService({ SendStats: method }, { SendStats: send });
  closing.push(() => server.forceShutdown());
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
}

function generate(plan: Partial<LoadPlan> & { port: number }): Promise<LoadReport> {
  const whole = { host: '127.0.0.1', connections: 3, warmupSeconds: 0, seconds: 30, requests: texts, ...plan };
  return new Promise((reported, failed) => {
    const child = execFile(bun, [join(root, 'test/support/run-load.ts')], (error, stdout) => {
      if (error === null) reported(JSON.parse(stdout) as LoadReport);
      else failed(error);
    });
    child.stdin?.end(JSON.stringify(whole));
  });
}

const texts = ['/a', '/b'].map((path) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`);

describe('the load generator', () => {
  it('the load generator counts accepted requests exactly', async () => {
    const seen: Record<string, number> = { '/a': 0, '/b': 0 };
    const port = await serve((request, response) => {
      seen[request.url ?? ''] = (seen[request.url ?? ''] ?? 0) + 1;
      response.writeHead(202, { 'content-length': 0 }).end();
    });
    const report = await generate({ port, limit: 101 });
    expect(report).toMatchObject({ requests: 101, accepted: [51, 50], errors: {} });
    expect(seen).toEqual({ '/a': 51, '/b': 50 });
    expect(report.rps).toBeGreaterThan(0);
  });

  it('the load generator counts every response other than 202 by its status', async () => {
    let responses = 0;
    const port = await serve((_, response) => {
      const status = [202, 202, 503, 429][responses++ % 4] ?? 202;
      response.writeHead(status, { 'content-length': 3 }).end('no\n');
    });
    const report = await generate({ port, limit: 100 });
    expect(report).toMatchObject({ requests: 50, errors: { 503: 25, 429: 25 } });
  });

  it('the load generator counts a lost connection, and continues on a new one', async () => {
    let responses = 0;
    const port = await serve((request, response) => {
      responses += 1;
      if (responses === 10) request.socket.destroy();
      else response.writeHead(202, { 'content-length': 0 }).end();
    });
    const report = await generate({ port, limit: 50 });
    expect(report).toMatchObject({ requests: 49, errors: { closed: 1 } });
  });

  it('the load generator reports the requests that were accepted before the target exited', async () => {
    let responses = 0;
    const port = await serve((request, response) => {
      responses += 1;
      if (responses <= 10) return void response.writeHead(202, { 'content-length': 0 }).end();
      for (const close of closing.splice(0)) close();
      request.socket.destroy();
    });
    const { requests, errors } = await generate({ port });
    // The system can accept another connection before the server has stopped listening.
    expect(errors['closed']).toBeGreaterThanOrEqual(3);
    expect({ requests, connect: errors['connect'] }).toEqual({ requests: 10, connect: 3 });
  });

  it('the load generator counts a malformed response', async () => {
    const port = await serve(({ socket }) => void socket.write('HTTP/1.1 202 Accepted\r\n\r\n'));
    const report = await generate({ port, connections: 1, limit: 1 });
    expect(report).toMatchObject({ requests: 0, errors: { unreadable: 1 } });
  });

  it('the load generator sends all requests of an open loop', async () => {
    const port = await serve((_, response) => void response.writeHead(202, { 'content-length': 0 }).end());
    const report = await generate({ port, rate: 200, seconds: 0.5 });
    expect(report).toMatchObject({ requests: 100, errors: {} });
  });

  it('the load generator divides connections and requests among threads', async () => {
    const seen: Record<string, number> = { '/a': 0, '/b': 0 };
    const sockets = new Set<Socket>();
    const port = await serve((request, response) => {
      seen[request.url ?? ''] = (seen[request.url ?? ''] ?? 0) + 1;
      sockets.add(request.socket);
      response.writeHead(202, { 'content-length': 0 }).end();
    });
    const report = await generate({ port, threads: 2, limit: 100 });
    expect(report).toMatchObject({ sent: 100, requests: 100, accepted: [50, 50], errors: {}, loop: 'closed' });
    expect(seen).toEqual({ '/a': 50, '/b': 50 });
    expect(sockets.size).toBe(3);
    expect(report.cpuShare).toBeGreaterThan(0);
    expect(report.latencies.reduce((sum, [, count]) => sum + count, 0)).toBe(100);
  });

  it('the load generator shows a stall in the quantiles of an open loop', async () => {
    let responses = 0;
    let stalled = 0;
    const port = await serve((_, response) => {
      responses += 1;
      const before = performance.now();
      while (responses === 50 && performance.now() - before < 400);
      if (responses === 50) stalled = performance.now() - before;
      response.writeHead(202, { 'content-length': 0 }).end();
    });
    const report = await generate({ port, rate: 200, seconds: 1 });
    expect(report).toMatchObject({ requests: 200, errors: {}, loop: 'open' });
    expect(report.max).toBeGreaterThan(stalled * 0.95);
    // Two of five requests were due during the stall. Without their planned times, only three requests would be slow.
    expect(report.p99).toBeGreaterThan(stalled * 0.8);
    expect(report.p90).toBeGreaterThan(stalled * 0.5);
  });

  it('the load generator makes gRPC calls, each with a different report', async () => {
    const reports = new Set<string>();
    const { message, positions, response } = encodeReport('a-key', new Date(1_000_000), 3);
    const port = await serveGrpc((received) => {
      const { time, instanceName } = decodeUsageReport(received);
      reports.add(`${instanceName} ${time}`);
      return reports.size === 90 ? Buffer.from([8, 1]) : response;
    });
    const calls = { path, positions, message: message.toString('base64'), response: response.toString('base64') };
    const plan = { protocol: 'grpc', streams: 2, firstNumber: 5, requests: [], ...calls } as const;
    const report = await generate({ port, threads: 2, limit: 100, ...plan });
    expect(report).toMatchObject({ sent: 100, requests: 99, accepted: [99], errors: { answer: 1 } });
    expect(reports.size).toBe(100);
    expect(new Set([...reports].map((each) => each.split(' ')[0]))).toEqual(
      new Set(['web-0000', 'web-0001', 'web-0002']),
    );
  });

  it('the load generator reports the gRPC status of a failed call', async () => {
    const { message, positions, response } = encodeReport('a-key', new Date(1_000_000), 3);
    const port = await serveGrpc(() => undefined);
    const calls = { path, positions, message: message.toString('base64'), response: response.toString('base64') };
    const plan = { protocol: 'grpc', streams: 1, firstNumber: 0, requests: [], ...calls } as const;
    const report = await generate({ port, limit: 5, ...plan });
    expect(report).toMatchObject({ requests: 0, errors: { RESOURCE_EXHAUSTED: 5 } });
  });

  it('the load generator fails if no server listens', async () => {
    await expect(generate({ port: 1 })).rejects.toThrow();
  });
});
