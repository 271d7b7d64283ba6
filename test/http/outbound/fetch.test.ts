import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type FetchRules, OutboundError, outboundFetch } from '../../../src/http/outbound/fetch.ts';
import { openReceiver, type Responder } from '../../webhooks/receiver.ts';

const pem = (name: string) => readFileSync(new URL(`../support/tls/${name}.pem`, import.meta.url), 'utf8');
const tls = { key: pem('key'), cert: pem('cert') };

const rules: FetchRules = {
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  allowPrivate: true,
  allowedBy: '--issuer-allow-private',
  version: '1',
  deadlineMs: 5000,
  maxBytes: 1000,
};

async function fetched(respond: Responder, more: Partial<FetchRules> = {}) {
  const { port, received } = await openReceiver(respond);
  const get = outboundFetch({ ...rules, ...more });
  const result = get(`http://issuer.example.com:${port}/keys?a=1`).catch((error: unknown) => error);
  return { answered: result, received };
}

describe('outboundFetch', () => {
  test('outboundFetch sends headers and body, and returns the status, type and body of the response', async () => {
    const { port, received } = await openReceiver((response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}'),
    );
    const post = outboundFetch(rules);
    const result = await post(`http://issuer.example.com:${port}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ code: 'a b' }),
    });
    expect(result.status).toBe(400);
    expect(result.headers.get('content-type')).toBe('application/json');
    expect(await result.json()).toEqual({ error: 'invalid_grant' });
    expect(received).toMatchObject([
      {
        path: '/token',
        body: 'code=a+b',
        headers: {
          host: `issuer.example.com:${port}`,
          'content-type': 'application/x-www-form-urlencoded',
          'accept-encoding': 'identity',
          'user-agent': 'flagmeter/1',
        },
      },
    ]);
  });

  test('outboundFetch accepts a response body of the maximum size, and rejects a larger body', async () => {
    const full = await fetched((response) => response.end('x'.repeat(1000)));
    expect(await ((await full.answered) as Response).text()).toHaveLength(1000);
    const over = await fetched((response) => response.end('x'.repeat(1001)));
    expect(await over.answered).toMatchObject({ code: 'too_large' });
  });

  test('outboundFetch stops reading an endless response body', async () => {
    const { answered } = await fetched((response) => {
      const more = () => response.write('x'.repeat(16_384), () => !response.destroyed && more());
      more();
    });
    expect(await answered).toMatchObject({ code: 'too_large' });
  });

  test.each([301, 302, 303, 307, 308])('outboundFetch rejects a redirect with status %i', async (status) => {
    const { answered, received } = await fetched((response) =>
      response.writeHead(status, { location: '/elsewhere' }).end(),
    );
    expect(await answered).toMatchObject({ code: 'redirect' });
    expect(received).toHaveLength(1);
  });

  test('outboundFetch rejects at the deadline if the response is missing or incomplete', async () => {
    const silent = await fetched(() => {}, { deadlineMs: 200 });
    expect(await silent.answered).toMatchObject({ code: 'timeout', message: 'no response within 0.2 seconds' });
    const stalling = await fetched((response) => void response.write('x'), { deadlineMs: 200 });
    expect(await stalling.answered).toMatchObject({ code: 'timeout' });
  });

  test('outboundFetch rejects a response that ends before its declared length', async () => {
    const { answered } = await fetched((response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('x', () => response.socket?.destroy());
    });
    expect(await answered).toBeInstanceOf(OutboundError);
  });

  test('outboundFetch rejects a response that switches to another protocol', async () => {
    const { answered } = await fetched(({ socket }) => {
      socket?.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: Upgrade\r\n\r\n');
    });
    expect(await answered).toBeInstanceOf(OutboundError);
  });

  test('outboundFetch refuses private addresses and URLs without TLS, unless they are allowed', async () => {
    const { port, received } = await openReceiver(undefined, tls);
    const get = outboundFetch({ ...rules, allowPrivate: false, ca: tls.cert });
    for (const url of [`https://issuer.example.com:${port}/`, `https://127.0.0.1:${port}/`])
      await expect(get(url)).rejects.toMatchObject({
        code: 'private_address',
        message: expect.stringContaining('--issuer-allow-private'),
      });
    await expect(get('http://1.1.1.1/')).rejects.toMatchObject({ code: 'private_address' });
    await expect(get('file:///etc/passwd')).rejects.toMatchObject({ code: 'private_address' });
    expect(received).toEqual([]);
  });

  test('outboundFetch rejects a certificate for another name or from an unknown authority', async () => {
    const { port, received } = await openReceiver(undefined, tls);
    const trusting = outboundFetch({ ...rules, ca: tls.cert });
    expect((await trusting(`https://localhost:${port}/`)).status).toBe(204);
    for (const get of [
      () => trusting(`https://issuer.example.com:${port}/`),
      () => outboundFetch(rules)(`https://localhost:${port}/`),
    ])
      await expect(get()).rejects.toMatchObject({ code: 'unreachable' });
    expect(received).toHaveLength(1);
  });
});
