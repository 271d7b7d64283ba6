import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { send } from '../../src/cli/send.ts';
import { testContext } from './fixture.ts';

/** Starts a server for one test. @returns its address without the scheme */
async function start(listener: RequestListener, secure = false): Promise<string> {
  const pem = (name: string) => readFileSync(join(import.meta.dirname, `../http/support/tls/${name}.pem`));
  const server = secure ? createSecureServer({ cert: pem('cert'), key: pem('key') }, listener) : createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns an address where no server listens any more. */
async function unusedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${port}`;
}

function get(url: string) {
  return send(testContext(), url, { method: 'GET' });
}

describe('send', () => {
  it('send returns the status and the JSON of the response', async () => {
    const http = await start((_, response) => {
      response.writeHead(418, { 'retry-after': '7', 'flagmeter-noted': 'x' }).end('{"a":1}');
    });
    expect(await get(`http://${http}/x`)).toEqual({ status: 418, json: { a: 1 }, retryAfter: '7', noted: 'x' });
  });

  it('send returns no JSON if the body is not JSON', async () => {
    const http = await start((_, response) => void response.end('<html>'));
    expect(await get(`http://${http}/x`)).toMatchObject({ status: 200, json: undefined });
  });

  it('send does not send the token to the address of a redirect', async () => {
    const seen: string[] = [];
    const http = await start((request, response) => {
      seen.push(request.url ?? '');
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await expect(get(`http://${http}/x?secret`)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+ redirects to \/elsewhere.*; use the address/),
    });
    expect(seen).toEqual(['/x?secret']);
  });

  it('send fails if no server listens at the address, and its error contains no part of the request', async () => {
    const closed = await unusedAddress();
    await expect(get(`http://${closed}/x?secret`)).rejects.toMatchObject({
      exitCode: 7,
      message: `Cannot reach http://${closed}: connection refused`,
    });
  });

  it('send fails for an unknown host name', async () => {
    await expect(get('http://nowhere.invalid/')).rejects.toMatchObject({
      exitCode: 7,
      message: 'Cannot reach http://nowhere.invalid: the host name cannot be resolved',
    });
  });

  it('send fails if the connection is closed', async () => {
    const http = await start((request) => void request.socket.destroy());
    await expect(get(`http://${http}/`)).rejects.toMatchObject({
      exitCode: 7,
      message: `Cannot reach http://${http}: the connection was closed`,
    });
  });

  it('send rejects a certificate from an unknown authority, and suggests NODE_EXTRA_CA_CERTS', async () => {
    const https = await start((_, response) => void response.end('{}'), true);
    await expect(get(`https://${https}/`)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(
        /^Cannot trust https:\/\/127\.0\.0\.1:\d+: DEPTH_ZERO_SELF_SIGNED_CERT; set NODE_EXTRA_CA_CERTS/,
      ),
    });
  });
});
