import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Address } from '../../src/http/outbound/addresses.ts';
import { newWebhookSecret, overlapMs, rotated } from '../../src/webhooks/secrets.ts';
import { type SendDeps, send } from '../../src/webhooks/send.ts';
import { sending } from './fixture.ts';
import { openReceiver, type Responder, verified } from './receiver.ts';

const pem = (name: string) => readFileSync(new URL(`../http/support/tls/${name}.pem`, import.meta.url), 'utf8');
const tls = { key: pem('key'), cert: pem('cert') };
const loopback: Address = { address: '127.0.0.1', family: 4 };
const secret = newWebhookSecret((size) => Buffer.alloc(size, 7));
const delivery = { id: 'msg_1_a', body: '{"type":"webhook.test"}' };

function sendTo(url: string, more: Partial<SendDeps> = {}, secrets = [secret], stop = AbortSignal.any([])) {
  return send({ ...sending, ...more }, { url, secrets }, delivery, Date.now(), stop);
}

async function openResponder(respond: Responder): Promise<string> {
  return `http://127.0.0.1:${(await openReceiver(respond)).port}/`;
}

describe('a delivery', () => {
  test('a delivery is signed as in Standard Webhooks', async () => {
    const receiver = await openReceiver();
    expect(await sendTo(`http://127.0.0.1:${receiver.port}/flags?a=1`)).toEqual({
      status: 204,
      error: null,
      retryAfterMs: 0,
    });
    const [one] = receiver.received;
    expect(one).toMatchObject({ path: '/flags?a=1', body: delivery.body });
    expect(one!.headers).toMatchObject({ 'webhook-id': 'msg_1_a', 'content-type': 'application/json' });
    expect(verified(one!, secret.text)).toEqual({ type: 'webhook.test' });
    expect(() => verified({ ...one!, body: `${one!.body} ` }, secret.text)).toThrow();
  });

  test('a delivery is also signed with the previous secret while that secret is valid', async () => {
    const receiver = await openReceiver();
    const next = newWebhookSecret((size) => Buffer.alloc(size, 8));
    const now = Date.now();
    await sendTo(`http://127.0.0.1:${receiver.port}/`, {}, [...rotated([secret], next, now)]);
    await sendTo(`http://127.0.0.1:${receiver.port}/`, {}, [...rotated([secret], next, now - overlapMs - 1000)]);
    const [within, after] = receiver.received;
    for (const { text } of [secret, next]) expect(verified(within!, text)).toBeTruthy();
    expect(verified(after!, next.text)).toBeTruthy();
    expect(() => verified(after!, secret.text)).toThrow();
  });

  test.each([200, 201, 204, 299])('a delivery succeeds if the status is %i', async (status) => {
    expect(await sendTo(await openResponder((response) => response.writeHead(status).end()))).toMatchObject({
      status,
      error: null,
    });
  });

  test.each([400, 404, 410, 429, 500, 503])('a delivery fails if the status is %i', async (status) => {
    const headers = { 'retry-after': '120' };
    const url = await openResponder((response) => response.writeHead(status, headers).end());
    expect(await sendTo(url)).toEqual({ status, error: `responded with ${status}`, retryAfterMs: 120_000 });
  });

  test('a delivery does not follow a redirect', async () => {
    const elsewhere = await openReceiver();
    const location = `http://127.0.0.1:${elsewhere.port}/`;
    for (const status of [301, 302, 307, 308]) {
      const url = await openResponder((response) => response.writeHead(status, { location }).end());
      expect((await sendTo(url)).error).toContain('redirects are not followed');
    }
    expect(elsewhere.received).toEqual([]);
  });
});

describe('the delay that a receiver requests', () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();

  test.each([
    ['120', 120_000, 120_000],
    [inAnHour, 3_590_000, 3_600_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0, 0],
    ['-1', 0, 0],
    ['soon', 0, 0],
    ['', 0, 0],
  ])('the delay of a retry is read from the Retry-After header %j', async (text, least, most) => {
    const url = await openResponder((response) => response.writeHead(503, { 'retry-after': text }).end());
    const { retryAfterMs } = await sendTo(url);
    expect(retryAfterMs).toBeGreaterThanOrEqual(least);
    expect(retryAfterMs).toBeLessThanOrEqual(most);
  });
});

describe('a delivery to a misbehaving receiver', () => {
  const soon = { deadlineMs: 300 };

  test('a delivery fails if the receiver does not respond', async () => {
    expect((await sendTo(await openResponder(() => {}), soon)).error).toBe('no response within 0.3 seconds');
  });

  test('a delivery succeeds although the response is endless', async () => {
    const url = await openResponder((response) => {
      response.writeHead(200);
      const more = () => response.write('x'.repeat(16_384), () => !response.destroyed && more());
      more();
    });
    expect(await sendTo(url)).toMatchObject({ status: 200, error: null });
  });

  test('a delivery stops waiting if the response body stalls', async () => {
    const url = await openResponder((response) => void response.writeHead(200).write('x'));
    expect((await sendTo(url, soon)).status).not.toBe(500);
  });

  test('a delivery fails if the response headers are endless', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 200 OK\r\n');
      const more = () => socket.write(`x: ${'y'.repeat(1000)}\r\n`, (error) => error || more());
      more();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    expect((await sendTo(`http://127.0.0.1:${port}/`, soon)).error).toBeTruthy();
  });

  test('a delivery fails if the receiver switches the protocol', async () => {
    const url = await openResponder(({ socket }) => {
      socket?.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: chat\r\nConnection: Upgrade\r\n\r\n');
    });
    expect(await sendTo(url)).toMatchObject({ status: 101, error: 'responded with 101' });
  });

  test('a delivery fails if the host name does not resolve', async () => {
    const never = () => new Promise<never>(() => {});
    const { error } = await sendTo('http://hooks.example.com/', { ...soon, resolve: never });
    expect(error).toBe('no response within 0.3 seconds');
  });

  test('a delivery fails when the service stops', async () => {
    const stop = new AbortController();
    const url = await openResponder(() => stop.abort());
    expect(await sendTo(url, {}, [secret], stop.signal)).toMatchObject({ status: null });
  });
});

describe('the address of a receiver', () => {
  test('a delivery uses the checked address, whatever the host name resolves to later', async () => {
    const receiver = await openReceiver();
    const answers = [[loopback], [{ address: '192.0.2.1', family: 4 } as const]];
    const asked: string[] = [];
    const resolve = async (name: string) => {
      asked.push(name);
      return answers.shift()!;
    };
    const url = `http://hooks.example.com:${receiver.port}/`;
    expect(await sendTo(url, { resolve })).toMatchObject({ status: 204 });
    expect(asked).toEqual(['hooks.example.com']);
    expect(receiver.received[0]!.headers.host).toBe(`hooks.example.com:${receiver.port}`);
  });

  test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1'])(
    'a host name that resolves to %s is refused unless private networks are allowed',
    async (address) => {
      const receiver = await openReceiver();
      const family = address.includes(':') ? 6 : 4;
      const resolve = async () => [{ address, family } as const];
      const refused = await sendTo(`http://hooks.example.com:${receiver.port}/`, { resolve, allowPrivate: false });
      expect(refused.error).toContain('--webhook-allow-private');
      expect(receiver.received).toEqual([]);
    },
  );

  test('a delivery to an address that is no longer allowed is rejected', async () => {
    const receiver = await openReceiver();
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect((await sendTo(url)).status).toBe(204);
    expect((await sendTo(url, { allowPrivate: false })).error).toContain('--webhook-allow-private');
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a certificate', () => {
  const at = async (name: string, ca?: string) => {
    const receiver = await openReceiver(undefined, tls);
    const resolve = async () => [loopback];
    const result = await sendTo(`https://${name}:${receiver.port}/`, { resolve, ca });
    return { ...result, arrived: receiver.received.length };
  };

  test('a delivery accepts a trusted certificate of the receiver', async () => {
    expect(await at('localhost', tls.cert)).toMatchObject({ status: 204, arrived: 1 });
  });

  test('a delivery rejects an untrusted certificate of the receiver', async () => {
    const { error, arrived } = await at('localhost');
    expect(error).toMatch(/self.signed/);
    expect(arrived).toBe(0);
  });

  test('a delivery rejects a certificate for another host name', async () => {
    const { error, arrived } = await at('hooks.example.com', tls.cert);
    expect(error).toMatch(/altname/i);
    expect(arrived).toBe(0);
  });
});
