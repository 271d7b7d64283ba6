import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chunk, chunkedHead, declare, get, host, post } from '../support/requests.ts';
import { bodyLimit } from '../support/routes.ts';
import { arrival, json, readRefusal, type Target } from '../support/target.ts';

/** Tests that every HTTP engine must pass with complete, too large and truncated bodies. */
export function bodies({ open, ask }: Target): void {
  describe.concurrent('request bodies', () => {
    it('accepts a body with a declared length', async () => {
      const response = await ask(post('/echo', 'hello'));
      expect([response.status, response.body.toString()]).toEqual([200, 'hello']);
    });

    it('accepts a body in chunks', async () => {
      const client = await open();
      client.write(`${chunkedHead('/echo')}${chunk('hello ')}`);
      await sleep(20);
      client.write(`${chunk('wor')}${chunk('ld')}0\r\n\r\n`);
      expect((await client.read()).body.toString()).toBe('hello world');
      client.write(get('/accept'));
      expect((await client.read()).status).toBe(202);
    });

    it.each([
      ['no length', `POST /echo HTTP/1.1\r\n${host}\r\n`],
      ['length 0', post('/echo', '')],
      ['no chunks', `${chunkedHead('/echo')}0\r\n\r\n`],
    ])('reads a body with %s as empty', async (_, request) => {
      const response = await ask(request);
      expect([response.status, response.body.length]).toEqual([200, 0]);
    });

    it('passes on a body of the maximum size with arbitrary bytes unchanged', async () => {
      const bytes = Buffer.alloc(bodyLimit).map((_, at) => (at * 31) % 256);
      const response = await ask(Buffer.concat([Buffer.from(declare('/echo', bytes.length)), bytes]));
      expect(response.body.equals(bytes)).toBe(true);
    });

    it.each([
      ['small', 4096, 0],
      ['large', 10_000, 10_000],
    ])('a %s body of %i bytes uses %i bytes of the budget until it is released', async (name, length, held) => {
      const body = 'x'.repeat(length);
      for (const request of [post(`/hold?${name}`, body), `${chunkedHead(`/hold?${name}`)}${chunk(body)}0\r\n\r\n`]) {
        expect(json(await ask(request))).toEqual({ length, held });
      }
      expect(json(await ask(get(`/hold?${name}`)))).toEqual({ held: 0 });
    });

    it.each([
      ['declared', () => post('/hold?declared', 'x'.repeat(30_000))],
      ['chunked', () => `${chunkedHead('/hold?chunked')}${chunk('x'.repeat(30_000))}0\r\n\r\n`],
      ['gzip', () => packed('/hold?gzip', 'x'.repeat(30_000))],
    ])('refuses a body over its budget with 503 (%s), and frees its memory', async (name, request) => {
      const response = await ask(request());
      expect([response.status, json(response).code]).toEqual([503, 'backpressure']);
      expect(json(await ask(get(`/hold?${name}`)))).toEqual({ held: 0 });
    });

    it('charges the budget only for received bytes, and only until the client disconnects', async () => {
      const heldNow = async () => json(await ask(get('/hold?gone'))).held;
      const client = await open();
      client.write(declare('/hold?gone', 15_000));
      expect(await heldNow()).toBe(0);
      client.write('x'.repeat(8_000));
      await expect.poll(heldNow).toBe(8_000);
      expect((await ask(post('/hold?gone', 'x'.repeat(13_000)))).status).toBe(503);
      client.close();
      await expect.poll(heldNow).toBe(0);
    });

    it('the handler can read a body after it has arrived', async () => {
      expect((await ask(post('/echo-late', 'hello'))).body.toString()).toBe('hello');
    });

    it('the handler can read a body while it arrives', async () => {
      const client = await open();
      client.write(declare('/echo-late', 10));
      for (const piece of ['he', 'llo', 'wor', 'ld']) {
        client.write(piece);
        await sleep(40);
      }
      expect((await client.read()).status).toBe(200);
    });

    it('allows 16 s for a body of 48 KiB', async () => {
      const client = await open();
      client.write(declare('/echo', 49_152));
      for (let second = 0; second < 16; second += 1) {
        client.write(Buffer.alloc(3_072, 'a'));
        await sleep(1_000);
      }
      expect((await client.read()).body.length).toBe(49_152);
    });

    it('skips a body that the handler does not read, and keeps the connection open', async () => {
      const client = await open();
      client.write(declare('/unread', 1_000_000));
      expect((await client.read()).status).toBe(503);
      await client.flood(1_000_000, Buffer.alloc(10_000));
      client.write(get('/accept'));
      expect((await client.read()).status).toBe(202);
    });

    it.each(['gzip', 'GZIP', 'x-gzip'])('decompresses a body with the encoding %s', async (encoding) => {
      const packed = gzipSync('hello').toString('latin1');
      expect((await ask(post('/echo', packed, `Content-Encoding: ${encoding}\r\n`))).body.toString()).toBe('hello');
    });

    it.each([
      ['exceeds the limit after decompression', 'gzip', gzipSync(Buffer.alloc(bodyLimit + 1)), 413, 'body_too_large'],
      ['is truncated', 'gzip', gzipSync('hello').subarray(0, -3), 400, 'invalid_content_encoding'],
      ['is in an unknown encoding', 'br', Buffer.from('x'), 400, 'invalid_content_encoding'],
    ])('refuses a body that %s', async (_, encoding, body, status, code) => {
      const response = await ask(post('/echo', body.toString('latin1'), `Content-Encoding: ${encoding}\r\n`));
      expect([response.status, json(response).code]).toEqual([status, code]);
    });
  });

  describe.concurrent('body that is too large', () => {
    it('refuses a body by its declared length before the body is sent', async () => {
      const client = await open();
      client.write(declare('/echo', bodyLimit + 1));
      await readRefusal(client);
      expect(await client.ended).toBe('closed');
    });

    it('refuses a body by its declared length even if the whole body is sent', async () => {
      const client = await open();
      client.write(`${declare('/echo', bodyLimit + 1)}${'a'.repeat(bodyLimit + 1)}`);
      await readRefusal(client);
      expect(await client.ended).toBe('closed');
    });

    it('refuses a body in chunks that is too large', async () => {
      const client = await open();
      client.write(`${chunkedHead('/echo')}${chunk('a'.repeat(bodyLimit))}${chunk('a')}0\r\n\r\n`);
      await readRefusal(client);
      expect(await client.ended).toBe('closed');
    });

    it.each([
      ['a declared length', declare('/echo', 8_192_000), Buffer.alloc(16_384, 'a'), ''],
      ['chunks', chunkedHead('/echo'), Buffer.from(chunk('a'.repeat(16_384))), '0\r\n\r\n'],
    ])('refuses a body with %s while it is being sent', async (_, head, piece, end) => {
      const client = await open();
      client.write(head);
      const flood = client.flood(500 * piece.length, piece);
      await readRefusal(client);
      await flood;
      client.write(end);
      expect(await client.ended).toBe('closed');
    });

    it('closes the connection if the sender of a refused body does not stop sending', async () => {
      const client = await open();
      client.write(declare('/echo', 1e12));
      const flood = client.flood(1e9);
      // The client can read the status, although closing the connection can cut off the end of the refusal.
      expect(await client.status()).toBe(413);
      expect(await flood).toBeLessThan(1e9);
      await client.ended;
    });

    it('refuses a body that is too large even if the handler reads it late', async () => {
      const client = await open();
      client.write(declare('/echo-late', 1_000_000));
      const flood = client.flood(1_000_000, Buffer.alloc(10_000));
      await readRefusal(client);
      await flood;
      expect(await client.ended).toBe('closed');
    });
  });

  describe('client that disconnects during its body', () => {
    it.each([
      ['declared', `${declare('/echo?declared', 50)}hello`],
      ['chunked', `${chunkedHead('/echo?chunked')}${chunk('hello')}`],
      ['unread', `${declare('/echo-late?unread', 50)}hello`],
    ])('the handler gets an error if the client disconnects during a body (%s)', async (query, request) => {
      const client = await open();
      client.write(request);
      await arrival(/\/\S+/.exec(request)![0], await open());
      client.socket.resetAndDestroy();
      await expect.poll(async () => json(await ask(get('/gone')))).toContain(query);
    });
  });
}

function packed(path: string, body: string): Uint8Array {
  const bytes = gzipSync(body);
  return Buffer.concat([Buffer.from(declare(path, bytes.length, 'Content-Encoding: gzip\r\n')), bytes]);
}

/** Tests that every HTTP engine must pass with slow bodies. */
export function slowBodies({ start, open }: Target): void {
  describe.concurrent('body that takes too long', () => {
    it.each([
      ['chunks', chunkedHead('/echo'), '1\r\na\r\n'],
      ['a large declared length', declare('/echo-large', 1_000_000), 'a'],
    ])('refuses a body with %s that arrives too slowly', async (_, head, piece) => {
      const hasty = await start({ secondMs: 10 });
      const client = await open(hasty.port);
      client.write(head);
      const trickle = setInterval(() => client.write(piece), 5);
      const response = await client.read();
      clearInterval(trickle);
      expect([response.status, json(response).code, response.headers.get('connection')]).toEqual([
        408,
        'body_too_slow',
        'close',
      ]);
      await client.ended;
      await hasty.stop();
    });

    it('waits for a body of 1 MB while its bytes keep arriving', async () => {
      const hasty = await start({ secondMs: 50 });
      const client = await open(hasty.port);
      client.write(declare('/echo-large', 1_000_000));
      for (let piece = 0; piece < 100; piece += 1) {
        client.write(Buffer.alloc(10_000));
        await sleep(20);
      }
      expect((await client.read()).body.length).toBe(1_000_000);
      client.write(get('/accept'));
      expect((await client.read()).status).toBe(202);
      await hasty.stop();
    });
  });
}
