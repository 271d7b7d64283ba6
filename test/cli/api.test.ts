import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Api, openApi } from '../../src/cli/api.ts';
import { testClock } from '../accounts/fixture.ts';
import { token } from '../support/binary.ts';
import { startLocal } from '../support/service.ts';
import { type TestContext, testContext } from './fixture.ts';

const access = { token: async () => 'a token', replace: async () => 'another token' };

/** Opens an API client for a test server with the given request listener. */
async function createApi(listener: RequestListener): Promise<{ api: Api; context: TestContext }> {
  const server = createServer(listener);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const context = testContext();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  return { api: openApi(context, url, access), context };
}

describe('the client of the management API', () => {
  it('the API client waits for the time in Retry-After, and then repeats the request', async () => {
    const clock = testClock();
    const service = await startLocal({ clock, args: ['--api-rate', '1'] });
    onTestFinished(() => service.stop());
    const given = await token(service.http, service.credentials);
    const context = testContext({ clock });
    const api = openApi(context, `http://${service.http}`, { ...access, token: async () => given });
    const began = clock.now();
    for (let request = 0; request < 5; request += 1) await api.call('GET', ['users', 'me']);
    expect(clock.now() - began).toBe(3_000);
    expect(context.output.err).toBe('Too many requests; retrying in 1 s\n'.repeat(3));
  });

  it.each([
    ['no Retry-After', undefined, [1, 2, 4, 8, 16]],
    ['Retry-After: 7', '7', [7, 7, 7, 7, 7]],
    ['Retry-After: 0', '0', [1, 1, 1, 1, 1]],
    ['a Retry-After that is too long', '61', []],
  ])('the API client stops retrying after repeated responses with %s', async (_what, retryAfter, waits) => {
    let requests = 0;
    const { api, context } = await createApi((_, response) => {
      requests += 1;
      response.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
      response.end('{"code":"rate_limited","detail":"Too many"}');
    });
    const began = context.clock.now();
    await expect(api.call('POST', ['things'], {})).rejects.toMatchObject({
      exitCode: 7,
      message: 'Too many (rate_limited)',
    });
    expect(requests).toBe(waits.length + 1);
    expect(context.clock.now() - began).toBe(1000 * waits.reduce((sum, wait) => sum + wait, 0));
  });

  it('the API client retries only once with a new token', async () => {
    const seen: unknown[] = [];
    const { api } = await createApi((request, response) => {
      seen.push([request.method, request.url, request.headers.authorization]);
      response.writeHead(401).end('{"code":"unauthorized","title":"A valid bearer token is required"}');
    });
    await expect(api.call('DELETE', ['a b', 'c/d'])).rejects.toMatchObject({
      exitCode: 3,
      message: 'A valid bearer token is required (unauthorized)',
    });
    expect(seen).toEqual([
      ['DELETE', '/base/api/v2/a%20b/c%2Fd', 'Bearer a token'],
      ['DELETE', '/base/api/v2/a%20b/c%2Fd', 'Bearer another token'],
    ]);
  });

  it.each([
    [400, 2],
    [403, 4],
    [404, 5],
    [409, 6],
    [412, 6],
    [500, 1],
    [503, 7],
  ])('a response with status %i makes a command fail with exit code %i', async (status, exitCode) => {
    const { api } = await createApi((_, response) => {
      response.writeHead(status).end('{"code":"some_code","detail":"Some\\u001b detail"}');
    });
    await expect(api.call('GET', ['things'])).rejects.toMatchObject({
      exitCode,
      message: 'Some\ufffd detail (some_code)',
    });
  });

  it.each<[number, string, number]>([
    [200, '<html>', 1],
    [200, '{}', 1],
    [404, '<html>', 1],
    [502, '<html>', 7],
  ])('the API client rejects a server that responds with status %i and the body %s', async (status, body, exitCode) => {
    const { api } = await createApi((_, response) => void response.writeHead(status).end(body));
    await expect(api.list(['things'])).rejects.toMatchObject({
      exitCode,
      message: expect.stringContaining(`does not respond like a flagmeter server (status ${status})`),
    });
  });
});
