import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RawClient } from '../support/raw-client.ts';
import { chunkedHead, declare, get, host } from '../support/requests.ts';
import { json, type Target } from '../support/target.ts';

/** Tests that every HTTP engine must pass with request heads. */
export function heads({ open, ask }: Target): void {
  describe.concurrent('request heads', () => {
    it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('passes on the method %s', async (method) => {
      const response = await ask(`${method} /describe HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`);
      expect(json(response)).toMatchObject({ method, path: '/describe', query: '', remoteAddress: '127.0.0.1' });
    });

    it('passes on the path and the query as the client sent them', async () => {
      const response = await ask(get('/describe?a=%20+b&a=%zz&&c?d'));
      expect(json(response)).toMatchObject({ path: '/describe', query: 'a=%20+b&a=%zz&&c?d' });
    });

    it('decodes percent-encoded path parameters', async () => {
      expect(json(await ask(get('/items/a%20b%2Fc%C3%A9?x')))).toEqual({ id: 'a b/cé' });
    });

    it('refuses a path with a malformed percent escape', async () => {
      const response = await ask(get('/items/%zz'));
      expect([response.status, json(response).code]).toEqual([400, 'invalid_path']);
    });

    it('passes on headers by lower-case name and joins repeated headers', async () => {
      const fields = 'X-UPPER: Value\r\nx-two: a\r\nX-Two: b\r\nCookie: a=1\r\ncookie: b=2\r\nX-Empty:\r\n';
      const response = await ask(get('/describe?headers=x-upper,x-two,cookie,x-empty,x-missing', fields));
      expect(json(response).headers).toEqual(['Value', 'a, b', 'a=1; b=2', '', null]);
    });

    it('accepts a token of 3 KB in the Authorization header', async () => {
      const token = `Bearer ${'t'.repeat(3_000)}`;
      const response = await ask(get('/describe?headers=authorization', `Authorization: ${token}\r\n`));
      expect(json(response).headers).toEqual([token]);
    });

    it('accepts a head that arrives in chunks', async () => {
      const client = await open();
      const head = get('/describe?headers=x-a', `X-A: ${'a'.repeat(6_000)}\r\n`);
      for (let at = 0; at < head.length; at += 2_000) {
        client.write(head.slice(at, at + 2_000));
        await sleep(5);
      }
      expect(json(await client.read()).headers).toEqual(['a'.repeat(6_000)]);
    });

    it('refuses a head over 16 KiB with 431', async () => {
      const client = await open();
      client.write(get('/describe', `X-Long: ${'a'.repeat(17_000)}\r\n`));
      expect((await client.read()).status).toBe(431);
      expect(await client.ended).toBe('closed');
    });

    it.each([
      ['a length that is not a number', declare('/echo', Number.NaN)],
      ['a negative length', declare('/echo', -5)],
      ['a malformed chunk', `${chunkedHead('/echo')}zz\r\nhello\r\n`],
    ])('responds with 400 to a request with %s, and closes the connection', async (_, request) => {
      const client = await open();
      client.write(request);
      expect((await client.read()).status).toBe(400);
      client.write('rest');
      await client.ended;
    });

    /** Sends two more requests in the same write, as if a proxy had mistaken them for the first body. */
    async function smuggle(head: string): Promise<RawClient> {
      const client = await open();
      const end = head.includes('Transfer-Encoding') ? '0\r\n\r\n' : '';
      client.write(`${head}${end}${get('/describe').repeat(2)}`);
      return client;
    }

    it.each([
      ['two lengths', 'Content-Length: 0\r\nContent-Length: 5\r\n'],
      ['the same length twice', 'Content-Length: 0\r\nContent-Length: 0\r\n'],
      ['a list of lengths', 'Content-Length: 0, 0\r\n'],
      ['two transfer codings', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
      ['chunked and identity', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'],
      ['the coding identity', 'Transfer-Encoding: identity\r\n'],
      ['the coding gzip', 'Transfer-Encoding: gzip\r\n'],
      ['the codings gzip and chunked', 'Transfer-Encoding: gzip, chunked\r\n'],
      ['the codings chunked and gzip', 'Transfer-Encoding: chunked, gzip\r\n'],
      ['a coding like chunked', 'Transfer-Encoding: xchunked\r\n'],
      ['an empty Content-Length', 'Content-Length:\r\n'],
      ['an empty Transfer-Encoding', 'Transfer-Encoding:\r\n'],
      ['two hosts', host],
      ['two different hosts', 'Host: other\r\n'],
    ])('responds with 400 to a head with %s, and does not respond to a smuggled request', async (_, fields) => {
      const client = await smuggle(`POST /echo HTTP/1.1\r\n${host}${fields}\r\n`);
      expect((await client.read()).status).toBe(400);
      await client.ended;
      expect(client.unread).not.toContain('HTTP/1.1');
    });

    it.each([
      ['a length with a sign', 'Content-Length: +0\r\n'],
      ['a length in hexadecimal', 'Content-Length: 0x0\r\n'],
      ['a length and chunks', 'Content-Length: 0\r\nTransfer-Encoding: chunked\r\n'],
      ['a space before the colon', 'Transfer-Encoding : chunked\r\n'],
      ['a folded field', 'Transfer-Encoding:\r\n chunked\r\n'],
    ])('closes the connection after a head with %s, and does not respond to a smuggled request', async (_, fields) => {
      const client = await smuggle(`POST /echo HTTP/1.1\r\n${host}${fields}\r\n`);
      await client.ended;
      expect(client.unread).toMatch(/^(?!.*HTTP\/1.1 2)/s);
      expect(client.unread.match(/HTTP\/1.1/g)?.length ?? 0).toBeLessThan(2);
    });

    it.each([
      ['no host', ''],
      ['an empty host', 'Host:\r\n'],
      ['a list of hosts', 'Host: a, b\r\n'],
      ['a host with a path', 'Host: a/b\r\n'],
      ['a host with a user', 'Host: a@b\r\n'],
      ['a host with a space', 'Host: a b\r\n'],
      ['a host that is not ASCII', 'Host: \xe9\r\n'],
    ])('responds with 400 to a request with %s', async (_, field) => {
      const client = await open();
      client.write(`GET /describe HTTP/1.1\r\n${field}\r\n`);
      await client.ended;
      expect(client.unread).toMatch(/^(?:HTTP\/1.1 400|$)/);
    });

    it.each(['example.com', 'example.com:8080', '127.0.0.1:80', '[::1]:8080', 'under_score', 'EXAMPLE.com'])(
      'accepts the host %s',
      async (name) => {
        expect((await ask(`GET /describe HTTP/1.1\r\nHost: ${name}\r\n\r\n`)).status).toBe(200);
      },
    );

    it('responds with 200 or 505 to an HTTP/1.0 request without a host', async () => {
      expect([200, 505]).toContain((await ask('GET /describe HTTP/1.0\r\n\r\n')).status);
    });

    it.each(['/describe/../items/7', '/items\\7'])(
      'does not resolve the path %s of an HTTP/1.0 request to another route',
      async (path) => {
        expect([400, 505]).toContain((await ask(`GET ${path} HTTP/1.0\r\n\r\n`)).status);
      },
    );

    it.each([
      '/items/../describe',
      '/items/./7',
      '/items\\7',
      '/x\\..\\describe',
      '/items/x\\..\\7',
      '/items/%2e%2E',
      '/items/%2e',
      '/items/..',
      '/items/.',
      '/x/.%2e/items/7',
      '/x//../../describe',
      '/../describe',
      '/..',
      '/items/..%2F..',
      '/items/..%2fx',
      '/items/x%2F%2E%2e',
      '/items/x%2f..%2Fy',
      '/items/x%5c..%5Cy',
      '/items/.%2f',
      '/describe#a',
      `${'/x'.repeat(9)}${'/..'.repeat(9)}/describe`,
    ])('refuses the path %s, because proxies could resolve it to another path', async (path) => {
      const response = await ask(get(path));
      expect([response.status, json(response).code]).toEqual([400, 'invalid_path']);
    });

    it.each([
      ['/items/...', '...'],
      ['/items/.a', '.a'],
      ['/items/a..', 'a..'],
      ['/items/%2e%2e%2e', '...'],
      ['/items/%5C', '\\'],
      ['/items/a..%2F..b', 'a../..b'],
      ['/items/x%2Fy', 'x/y'],
      ['/items/%23', '#'],
      ['/items/%252e%252e', '%2e%2e'],
      ['/items/a"b', 'a"b'],
      ['/items/:id', ':id'],
      ['/items/*', '*'],
    ])('accepts the path %s unchanged', async (path, id) => {
      expect(json(await ask(get(path)))).toEqual({ id });
    });

    it.each(['/describe/', '//describe', '/items//7', '/', '/x'.repeat(40), '/%64escribe'])(
      'finds no route for the path %s',
      async (path) => {
        expect((await ask(get(path))).status).toBe(404);
      },
    );

    it.each(['GET /describe HTTP/2.0', 'nonsense', '\x16\x03\x01\x02'])('refuses the request line %j', async (line) => {
      const client = await open();
      client.write(`${line}\r\n${host}\r\n`);
      expect([400, 505]).toContain((await client.read()).status);
      await client.ended;
    });
  });
}
