import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RawClient, type RawReply } from './support/raw-client.ts';
import { bodyLimit } from './support/routes.ts';
import type { RunningServer, StartServer } from './support/servers.ts';

const host = 'Host: test\r\n';
const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\n${host}${fields}\r\n`;
const post = (path: string, body: string, fields = '') =>
  `POST ${path} HTTP/1.1\r\n${host}Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n${fields}\r\n${body}`;
const declare = (path: string, length: number, fields = '') =>
  `POST ${path} HTTP/1.1\r\n${host}Content-Length: ${length}\r\n${fields}\r\n`;
const chunkedHead = (path: string, fields = '') =>
  `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n${fields}\r\n`;
const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`;
const pem = (name: string) => fileURLToPath(new URL(`./support/tls/${name}.pem`, import.meta.url));
const json = (reply: RawReply) => JSON.parse(reply.body.toString());

/** What every engine must do: one suite, run against each of them. */
export function conformance(start: StartServer): void {
  let server: RunningServer;
  const clients: RawClient[] = [];

  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    await server.stop();
  });

  async function open(port = server.port): Promise<RawClient> {
    const client = await RawClient.open(port);
    clients.push(client);
    return client;
  }

  async function ask(request: string | Uint8Array, method = 'GET'): Promise<RawReply> {
    const client = await open();
    client.write(request);
    return client.read(method);
  }

  async function refusalOf(client: RawClient): Promise<RawReply> {
    const reply = await client.read();
    expect(reply.status).toBe(413);
    expect(json(reply).code).toBe('body_too_large');
    expect(reply.headers.get('connection')).toBe('close');
    return reply;
  }

  describe.concurrent('the head of a request', () => {
    it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('gives the method %s', async (method) => {
      const reply = await ask(`${method} /describe HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`);
      expect(json(reply)).toMatchObject({ method, path: '/describe', query: '', remoteAddress: '127.0.0.1' });
    });

    it('gives path and query as they were sent', async () => {
      const reply = await ask(get('/describe?a=%20+b&a=%zz&&c?d'));
      expect(json(reply)).toMatchObject({ path: '/describe', query: 'a=%20+b&a=%zz&&c?d' });
    });

    it('decodes path parameters', async () => {
      expect(json(await ask(get('/items/a%20b%2Fc%C3%A9?x')))).toEqual({ id: 'a b/cé' });
    });

    it('refuses a malformed escape in the path', async () => {
      const reply = await ask(get('/items/%zz'));
      expect([reply.status, json(reply).code]).toEqual([400, 'invalid_path']);
    });

    it('gives headers by lower-case name and joins repeated ones', async () => {
      const fields = 'X-UPPER: Value\r\nx-two: a\r\nX-Two: b\r\nCookie: a=1\r\ncookie: b=2\r\nX-Empty:\r\n';
      const reply = await ask(get('/describe?headers=x-upper,x-two,cookie,x-empty,x-missing', fields));
      expect(json(reply).headers).toEqual(['Value', 'a, b', 'a=1; b=2', '', null]);
    });

    it('may have 3 KB of token', async () => {
      const token = `Bearer ${'t'.repeat(3_000)}`;
      const reply = await ask(get('/describe?headers=authorization', `Authorization: ${token}\r\n`));
      expect(json(reply).headers).toEqual([token]);
    });

    it('may come in pieces', async () => {
      const client = await open();
      const head = get('/describe?headers=x-a', `X-A: ${'a'.repeat(6_000)}\r\n`);
      for (let at = 0; at < head.length; at += 2_000) {
        client.write(head.slice(at, at + 2_000));
        await sleep(5);
      }
      expect(json(await client.read()).headers).toEqual(['a'.repeat(6_000)]);
    });

    it('over 16 KiB is refused with 431', async () => {
      const client = await open();
      client.write(get('/describe', `X-Long: ${'a'.repeat(17_000)}\r\n`));
      expect((await client.read()).status).toBe(431);
      expect(await client.ended).toBe('closed');
    });

    it.each([
      ['a length that is no number', declare('/echo', Number.NaN)],
      ['a negative length', declare('/echo', -5)],
      ['two lengths', declare('/echo', 5, 'Content-Length: 3\r\n')],
      ['a length and chunks', `${declare('/echo', 5, 'Transfer-Encoding: chunked\r\n')}0\r\n\r\n`],
      [
        'an unknown transfer coding',
        declare('/echo', 0).replace('Content-Length: 0', 'Transfer-Encoding: gzip'),
      ],
      ['a malformed chunk', `${chunkedHead('/echo')}zz\r\nhello\r\n`],
    ])('with %s is a bad request that ends the connection', async (_, request) => {
      const client = await open();
      client.write(request);
      expect((await client.read()).status).toBe(400);
      client.write('rest');
      await client.ended;
    });

    it.each(['GET /describe HTTP/2.0', 'nonsense', '\x16\x03\x01\x02'])('%j is no request', async (line) => {
      const client = await open();
      client.write(`${line}\r\n${host}\r\n`);
      expect([400, 505]).toContain((await client.read()).status);
      await client.ended;
    });
  });

  describe.concurrent('a body', () => {
    it('comes with a declared length', async () => {
      const reply = await ask(post('/echo', 'hello'));
      expect([reply.status, reply.body.toString()]).toEqual([200, 'hello']);
    });

    it('comes in chunks', async () => {
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
    ])('with %s is empty', async (_, request) => {
      const reply = await ask(request);
      expect([reply.status, reply.body.length]).toEqual([200, 0]);
    });

    it('of any bytes and of the largest size is untouched', async () => {
      const bytes = Buffer.alloc(bodyLimit).map((_, at) => (at * 31) % 256);
      const reply = await ask(Buffer.concat([Buffer.from(declare('/echo', bytes.length)), bytes]));
      expect(reply.body.equals(bytes)).toBe(true);
    });

    it('may be asked for when it is there already', async () => {
      expect((await ask(post('/echo-late', 'hello'))).body.toString()).toBe('hello');
    });

    it('may be asked for while it is coming', async () => {
      const client = await open();
      client.write(declare('/echo-late', 10));
      for (const piece of ['he', 'llo', 'wor', 'ld']) {
        client.write(piece);
        await sleep(40);
      }
      expect((await client.read()).status).toBe(200);
    });

    it('of 48 KiB may take 16 s', async () => {
      const client = await open();
      client.write(declare('/echo', 49_152));
      for (let second = 0; second < 16; second += 1) {
        client.write(Buffer.alloc(3_072, 'a'));
        await sleep(1_000);
      }
      expect((await client.read()).body.length).toBe(49_152);
    });

    it('that the handler does not read is skipped, and the connection stays', async () => {
      const client = await open();
      client.write(declare('/unread', 1_000_000));
      expect((await client.read()).status).toBe(503);
      await client.flood(1_000_000, Buffer.alloc(10_000));
      client.write(get('/accept'));
      expect((await client.read()).status).toBe(202);
    });

    it.each(['gzip', 'GZIP', 'x-gzip'])('in %s is inflated', async (encoding) => {
      const packed = gzipSync('hello').toString('latin1');
      expect((await ask(post('/echo', packed, `Content-Encoding: ${encoding}\r\n`))).body.toString()).toBe(
        'hello',
      );
    });

    it.each([
      ['inflates past the limit', 'gzip', gzipSync(Buffer.alloc(bodyLimit + 1)), 413, 'body_too_large'],
      ['is cut off', 'gzip', gzipSync('hello').subarray(0, -3), 400, 'invalid_content_encoding'],
      ['is in an unknown encoding', 'br', Buffer.from('x'), 400, 'invalid_content_encoding'],
    ])('that %s is refused', async (_, encoding, body, status, code) => {
      const reply = await ask(post('/echo', body.toString('latin1'), `Content-Encoding: ${encoding}\r\n`));
      expect([reply.status, json(reply).code]).toEqual([status, code]);
    });
  });

  describe.concurrent('a body that is too large', () => {
    it('is refused by its declared length, before it is sent', async () => {
      const client = await open();
      client.write(declare('/echo', bodyLimit + 1));
      await refusalOf(client);
      expect(await client.ended).toBe('closed');
    });

    it('is refused by its declared length when it is sent whole', async () => {
      const client = await open();
      client.write(`${declare('/echo', bodyLimit + 1)}${'a'.repeat(bodyLimit + 1)}`);
      await refusalOf(client);
      expect(await client.ended).toBe('closed');
    });

    it('is refused in chunks', async () => {
      const client = await open();
      client.write(`${chunkedHead('/echo')}${chunk('a'.repeat(bodyLimit))}${chunk('a')}0\r\n\r\n`);
      await refusalOf(client);
      expect(await client.ended).toBe('closed');
    });

    it.each([
      ['a declared length', declare('/echo', 8_192_000), Buffer.alloc(16_384, 'a'), ''],
      ['chunks', chunkedHead('/echo'), Buffer.from(chunk('a'.repeat(16_384))), '0\r\n\r\n'],
    ])('is refused while it is still being sent with %s', async (_, head, piece, end) => {
      const client = await open();
      client.write(head);
      const flood = client.flood(500 * piece.length, piece);
      await refusalOf(client);
      await flood;
      client.write(end);
      expect(await client.ended).toBe('closed');
    });

    it('is cut when its sender does not stop', async () => {
      const client = await open();
      client.write(declare('/echo', 1e12));
      const flood = client.flood(1e9);
      await refusalOf(client);
      expect(await flood).toBeLessThan(1e9);
      await client.ended;
    });

    it('is refused when the handler asks for it late', async () => {
      const client = await open();
      client.write(declare('/echo-late', 1_000_000));
      const flood = client.flood(1_000_000, Buffer.alloc(10_000));
      await refusalOf(client);
      await flood;
      expect(await client.ended).toBe('closed');
    });
  });

  describe('a client that goes away in mid-body', () => {
    it.each([
      ['declared', `${declare('/echo?declared', 50)}hello`],
      ['chunked', `${chunkedHead('/echo?chunked')}${chunk('hello')}`],
      ['unread', `${declare('/echo-late?unread', 50)}hello`],
    ])('is seen as gone (%s)', async (query, request) => {
      const client = await open();
      client.write(request);
      await sleep(50);
      client.socket.resetAndDestroy();
      await expect.poll(async () => json(await ask(get('/gone'))), { timeout: 5_000 }).toContain(query);
    });
  });

  describe.concurrent('a connection', () => {
    it('stays open for the next request', async () => {
      const client = await open();
      for (const body of ['one', 'two', 'three']) {
        client.write(post('/echo', body));
        expect((await client.read()).body.toString()).toBe(body);
      }
    });

    it('is closed when the client asks for it', async () => {
      const client = await open();
      client.write(get('/accept', 'Connection: close\r\n'));
      expect((await client.read()).status).toBe(202);
      expect(await client.ended).toBe('closed');
    });

    it('answers pipelined requests in order', async () => {
      const client = await open();
      const bodies = Array.from({ length: 20 }, (_, at) => `body ${at}`);
      client.write(bodies.map((body) => post('/echo', body)).join('') + get('/describe'));
      for (const body of bodies) expect((await client.read()).body.toString()).toBe(body);
      expect((await client.read()).status).toBe(200);
    });

    it('never mixes up a pipelined request with one that is still waiting: it ends', async () => {
      const client = await open();
      client.write(get('/slow') + get('/accept'));
      expect(await client.ended).toBe('closed');
    });
  });

  describe.concurrent('Expect: 100-continue', () => {
    const expectation = 'Expect: 100-continue\r\n';

    it.each([
      ['a declared length', declare('/echo', 5, expectation), 'hello'],
      ['chunks', chunkedHead('/echo', expectation), `${chunk('hello')}0\r\n\r\n`],
    ])('is met with 100, then with the answer to a body with %s', async (_, head, body) => {
      const client = await open();
      client.write(head);
      expect((await client.read()).status).toBe(100);
      client.write(body);
      expect((await client.read()).body.toString()).toBe('hello');
    });

    it('is met with a refusal at once when the body would be too large', async () => {
      const client = await open();
      client.write(declare('/echo', 1_000_000, expectation));
      expect((await client.read()).status).toBe(100);
      await refusalOf(client);
      expect(await client.ended).toBe('closed');
    });
  });

  describe.concurrent('a reply', () => {
    it('without a body has length 0', async () => {
      const { status, headers } = await ask(get('/accept'));
      expect([status, headers.get('content-length'), headers.has('content-type')]).toEqual([202, '0', false]);
    });

    it('without content says nothing of a length', async () => {
      const { status, headers } = await ask(get('/no-content'));
      expect([status, headers.has('content-length')]).toEqual([204, false]);
    });

    it('has its own content type and the length in bytes', async () => {
      const { headers, body } = await ask(get('/text'));
      expect([headers.get('content-type'), headers.get('content-length')]).toEqual(['text/x', '9']);
      expect(body.toString()).toBe('häßlich');
    });

    it('has a date', async () => {
      const { headers } = await ask(get('/accept'));
      expect(Math.abs(Date.parse(headers.get('date')!) - Date.now())).toBeLessThan(10_000);
    });

    it('to HEAD has the length and nothing else of the body', async () => {
      const client = await open();
      client.write(`HEAD /items/7 HTTP/1.1\r\n${host}\r\n`);
      const { status, headers } = await client.read('HEAD');
      expect([status, headers.get('content-length')]).toEqual([200, String('{"id":"7"}'.length)]);
      client.write(get('/accept'));
      expect((await client.read()).status).toBe(202);
    });

    it.each([
      ['OPTIONS', '/describe', 204, 'GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS'],
      ['OPTIONS', '/no-options', 405, 'POST'],
      ['PUT', '/items/7', 405, 'GET, HEAD, OPTIONS'],
      ['HEAD', '/echo', 405, 'POST, OPTIONS'],
      ['PATCH', '/echo', 405, 'POST, OPTIONS'],
    ])('to %s %s is %i with Allow', async (method, path, status, allow) => {
      const reply = await ask(`${method} ${path} HTTP/1.1\r\n${host}\r\n`, method);
      expect([reply.status, reply.headers.get('allow')]).toEqual([status, allow]);
    });

    it('to OPTIONS may be the route’s own', async () => {
      const { status, headers } = await ask(`OPTIONS /preflight HTTP/1.1\r\n${host}\r\n`);
      expect([status, headers.get('x-own')]).toEqual([204, 'yes']);
    });

    it('to an unknown path is 404', async () => {
      const reply = await ask(get('/nowhere'));
      expect([reply.status, json(reply).code]).toEqual([404, 'not_found']);
      expect(reply.headers.get('content-type')).toBe('application/problem+json');
    });

    it.each(['/throw', '/reject'])(
      'of a handler that fails is 500 and says nothing of the cause (%s)',
      async (path) => {
        const reply = await ask(get(path));
        expect([reply.status, json(reply).code]).toEqual([500, 'internal']);
        expect(reply.body.toString()).not.toContain('secret cause');
        expect(json(await ask(get('/errors')))).toContain('secret cause');
      },
    );
  });

  describe.concurrent('a listener', () => {
    it('says why it cannot listen on an address in use', async () => {
      const address = `127.0.0.1:${server.port}`;
      await expect(start({ port: server.port })).rejects.toThrow(
        `Cannot listen on ${address}: the address is in use`,
      );
    });

    it('says why it cannot listen on a host that is not here', async () => {
      await expect(start({ host: '192.0.2.1' })).rejects.toThrow(
        'Cannot listen on 192.0.2.1:0: no interface of this machine has the host',
      );
    });

    it('names a certificate that it cannot read', async () => {
      const tls = { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' };
      await expect(start({ tls })).rejects.toThrow(
        /^Cannot use the certificate \/nowhere\/cert\.pem .*ENOENT/,
      );
    });

    it('names a certificate and a key that do not belong together', async () => {
      const tls = { certFile: pem('cert'), keyFile: pem('cert') };
      await expect(start({ tls })).rejects.toThrow(
        /^Cannot use the certificate .*cert.pem with the key .*cert.pem: /,
      );
    });

    it('speaks TLS when it is given a certificate, refusals of large bodies and all', async () => {
      const secure = await start({ tls: { certFile: pem('cert'), keyFile: pem('key') } });
      const client = await RawClient.openTls(secure.port);
      client.write(post('/echo', 'hello'));
      expect((await client.read()).body.toString()).toBe('hello');
      client.write(declare('/echo', 1_000_000));
      const flood = client.flood(1_000_000, Buffer.alloc(10_000));
      await refusalOf(client);
      await flood;
      expect(await client.ended).toBe('closed');
      await secure.stop();
    });

    it('that is closed answers what is under way, then takes nothing more', async () => {
      const closing = await start();
      const [idle, slow, sending] = [
        await open(closing.port),
        await open(closing.port),
        await open(closing.port),
      ];
      slow.write(get('/slow'));
      sending.write(`${declare('/echo', 5)}he`);
      await sleep(100);
      idle.write(post('/shut-down?grace=5000', ''));
      expect((await idle.read()).status).toBe(202);
      await sleep(50);
      sending.write('llo');
      expect((await sending.read()).body.toString()).toBe('hello');
      expect(json(await slow.read())).toBe('slow');
      await closing.closed;
      expect(await Promise.all([idle.ended, slow.ended, sending.ended])).toEqual([
        'closed',
        'closed',
        'closed',
      ]);
      await expect(open(closing.port)).rejects.toThrow('ECONNREFUSED');
      await closing.stop();
    });

    it('that is closed cuts what is still under way after its grace', async () => {
      const closing = await start();
      const [asker, stuck] = [await open(closing.port), await open(closing.port)];
      stuck.write(declare('/echo', 5));
      await sleep(50);
      asker.write(post('/shut-down?grace=100', ''));
      await closing.closed;
      await stuck.ended;
      await closing.stop();
    });
  });
}
