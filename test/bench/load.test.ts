import { execFile } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { LoadPlan, LoadReport } from '../../bench/load.ts';

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

function generate(plan: Partial<LoadPlan> & { port: number }): Promise<LoadReport> {
  const whole = {
    host: '127.0.0.1',
    connections: 3,
    warmupSeconds: 0,
    seconds: 30,
    requests: texts,
    ...plan,
  };
  return new Promise((reported, failed) => {
    const child = execFile(bun, [join(root, 'bench/drive.ts')], (error, stdout) => {
      if (error === null) reported(JSON.parse(stdout) as LoadReport);
      else failed(error);
    });
    child.stdin?.end(JSON.stringify(whole));
  });
}

const texts = ['/a', '/b'].map((path) => `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`);

describe('the load generator', () => {
  it('counts accepted requests exactly', async () => {
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

  it('counts every answer other than 202 by its status', async () => {
    let answers = 0;
    const port = await serve((_, response) => {
      const status = [202, 202, 503, 429][answers++ % 4] ?? 202;
      response.writeHead(status, { 'content-length': 3 }).end('no\n');
    });
    const report = await generate({ port, limit: 100 });
    expect(report).toMatchObject({ requests: 50, errors: { 503: 25, 429: 25 } });
  });

  it('counts a lost connection and continues on a new one', async () => {
    let answers = 0;
    const port = await serve((request, response) => {
      answers += 1;
      if (answers === 10) request.socket.destroy();
      else response.writeHead(202, { 'content-length': 0 }).end();
    });
    const report = await generate({ port, limit: 50 });
    expect(report).toMatchObject({ requests: 49, errors: { closed: 1 } });
  });

  it('counts a malformed answer', async () => {
    const port = await serve(
      (_, response) => void response.writeHead(202, { 'transfer-encoding': 'chunked' }).end('in chunks'),
    );
    const report = await generate({ port, connections: 1, limit: 1 });
    expect(report).toMatchObject({ requests: 0, errors: { unreadable: 1 } });
  });

  it('sends all requests of an open loop', async () => {
    const port = await serve((_, response) => void response.writeHead(202, { 'content-length': 0 }).end());
    const report = await generate({ port, rate: 200, seconds: 0.5 });
    expect(report).toMatchObject({ requests: 100, errors: {} });
  });

  it('fails when nothing listens', async () => {
    await expect(generate({ port: 1 })).rejects.toThrow();
  });
});
