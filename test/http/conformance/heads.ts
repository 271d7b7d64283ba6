import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { chunkedHead, declare, get, host } from '../support/requests.ts';
import { json, type Target } from '../support/target.ts';

/** What every engine must make of the head of a request. */
export function heads({ open, ask }: Target): void {
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
}
