import { describe, expect, it } from 'vitest';
import { chunk, chunkedHead, declare, get, host, post } from '../support/requests.ts';
import { json, readRefusal, type Target } from '../support/target.ts';

/** Returns the repeated byte of each block of 64 KiB; `undefined` for a block with different bytes. */
function numbersIn(body: Buffer): (number | undefined)[] {
  return Array.from({ length: body.length / 65_536 }, (_, at) => {
    const piece = body.subarray(at * 65_536, (at + 1) * 65_536);
    return piece.equals(Buffer.alloc(65_536, piece[0]!)) ? piece[0]! : undefined;
  });
}

/** Tests of connections and responses, which every HTTP engine must pass. */
export function replies({ open, ask, start }: Target): void {
  describe.concurrent('HTTP connection', () => {
    it('keeps a connection open for the next request', async () => {
      const client = await open();
      for (const body of ['one', 'two', 'three']) {
        client.write(post('/echo', body));
        expect((await client.read()).body.toString()).toBe(body);
      }
    });

    it('closes a connection if the client sends Connection: close', async () => {
      const client = await open();
      client.write(get('/accept', 'Connection: close\r\n'));
      expect((await client.read()).status).toBe(202);
      expect(await client.ended).toBe('closed');
    });

    it('closes the connection if a pipelined request arrives before the previous response', async () => {
      const client = await open();
      client.write(get('/slow') + get('/accept'));
      expect(await client.ended).toBe('closed');
    });
  });

  describe.concurrent('reused response', () => {
    it('sends a reused response completely each time, on a connection that stays open', async () => {
      const client = await open();
      for (let time = 0; time < 3; time += 1) {
        client.write(get('/reused'));
        const { status, headers, body } = await client.read();
        expect([status, body.toString()]).toEqual([200, 'again']);
        expect(headers.get('content-type')).toBe('text/plain');
        expect(headers.get('x-content-type-options')).toBe('nosniff');
      }
    });
  });

  describe.concurrent('response with shared headers', () => {
    it('sends the shared headers, and the id of each request', async () => {
      const client = await open();
      for (const id of ['first', 'second']) {
        client.write(get(`/shared?${id}`));
        const { status, headers, body } = await client.read();
        expect([status, body.toString()]).toEqual([203, id]);
        expect(headers.get('content-type')).toBe('text/plain');
        expect(headers.get('x-shared')).toBe('yes');
        expect(headers.get('x-request-id')).toBe(id);
        expect(headers.get('x-content-type-options')).toBe('nosniff');
      }
    });
  });

  describe.concurrent('default headers', () => {
    it.each([
      ['a request without content', get('/accept')],
      ['a route with a reused response', get('/reused')],
      ['a route with shared headers', get('/shared?id')],
      ['a body', post('/echo', 'x')],
      ['a path without a route', get('/nowhere')],
      ['another method', 'PATCH /echo HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a preflight', 'OPTIONS /echo HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a path that could be resolved', get('/a/../b')],
      ['an ambiguous head', 'POST /echo HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'],
      ['a body that is too large', declare('/echo', 100_000_000)],
    ])('the default headers are in the response to %s', async (_, request) => {
      const server = await start({ headers: { 'strict-transport-security': 'max-age=1' } });
      const client = await open(server.port);
      client.write(request);
      const { headers } = await client.read(request.split(' ')[0]);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('strict-transport-security')).toBe('max-age=1');
      client.close();
      await server.stop();
    });
  });

  describe.concurrent('Expect: 100-continue', () => {
    const expectation = 'Expect: 100-continue\r\n';

    it.each([
      ['a declared length', declare('/echo', 5, expectation), 'hello'],
      ['chunks', chunkedHead('/echo', expectation), `${chunk('hello')}0\r\n\r\n`],
    ])('responds with 100 to Expect: 100-continue, and then accepts a body with %s', async (_, head, body) => {
      const client = await open();
      client.write(head);
      expect((await client.read()).status).toBe(100);
      client.write(body);
      expect((await client.read()).body.toString()).toBe('hello');
    });

    it('refuses a request with Expect: 100-continue before its body is sent if the body would be too large', async () => {
      const client = await open();
      client.write(declare('/echo', 1_000_000, expectation));
      expect((await client.read()).status).toBe(100);
      await readRefusal(client);
      expect(await client.ended).toBe('closed');
    });
  });

  describe.concurrent('HTTP response', () => {
    it('sends content-length: 0 in a response without a body', async () => {
      const { status, headers } = await ask(get('/accept'));
      expect([status, headers.get('content-length'), headers.has('content-type')]).toEqual([202, '0', false]);
    });

    it('sends no content-length in a 204 response', async () => {
      const { status, headers } = await ask(get('/no-content'));
      expect([status, headers.has('content-length')]).toEqual([204, false]);
    });

    it('sends the content type of the handler and the length in bytes', async () => {
      const { headers, body } = await ask(get('/text'));
      expect([headers.get('content-type'), headers.get('content-length')]).toEqual(['text/x', '9']);
      expect(body.toString()).toBe('häßlich');
    });

    it('sends a date header in a response', async () => {
      const { headers } = await ask(get('/accept'));
      expect(Math.abs(Date.parse(headers.get('date')!) - Date.now())).toBeLessThan(10_000);
    });

    it('sends the length of the body, but no body, in the response to HEAD', async () => {
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
    ])('responds to %s %s with %i and Allow', async (method, path, status, allow) => {
      const response = await ask(`${method} ${path} HTTP/1.1\r\n${host}\r\n`, method);
      expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
    });

    it('passes an OPTIONS request to a route for OPTIONS', async () => {
      const { status, headers } = await ask(`OPTIONS /preflight HTTP/1.1\r\n${host}\r\n`);
      expect([status, headers.get('x-own')]).toEqual([204, 'yes']);
    });

    it('responds to an unknown path with 404', async () => {
      const response = await ask(get('/nowhere'));
      expect([response.status, json(response).code]).toEqual([404, 'not_found']);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    });

    it.each(['/throw', '/reject'])(
      'responds with 500 if a handler fails, and does not reveal the cause (%s)',
      async (path) => {
        const response = await ask(get(path));
        expect([response.status, json(response).code]).toEqual([500, 'internal']);
        expect(response.body.toString()).not.toContain('secret cause');
        expect(json(await ask(get('/errors')))).toContain('secret cause');
      },
    );
  });
}

/** Tests of chunked responses, which every HTTP engine must pass. Front-end threads do not forward such responses. */
export function chunkedReplies({ open, ask }: Target): void {
  describe.concurrent('chunked response', () => {
    const told = async (query: string) => json(await ask(get(`/pieces/${query}`)));

    it('sends all chunks of a response, frees the body, and keeps the connection open', async () => {
      const client = await open();
      client.write(get('/pieces?whole'));
      const { status, headers, body } = await client.read();
      expect([status, headers.get('content-type'), body.length]).toEqual([200, 'text/x', 20 * 65_536]);
      expect(numbersIn(body)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
      client.write(get('/pieces/whole'));
      expect(json(await client.read())).toEqual({ pieces: 20, stops: 1 });
    });

    it('sends all chunks to a slow client, although the memory of a chunk is reused', async () => {
      const client = await open();
      client.socket.pause();
      client.write(get('/some-pieces?waits'));
      for (let before = -1, now = 0; now !== before || now === 0; ) {
        before = now;
        await ask(get('/slow'));
        now = (await told('waits')).pieces;
        expect(now).toBeLessThan(400);
      }
      client.socket.resume();
      const numbers = numbersIn((await client.read()).body);
      expect(numbers).toEqual(Array.from({ length: 400 }, (_, at) => (at + 1) % 256));
    });

    it('closes the connection if a chunk fails, so that the response never seems complete', async () => {
      const client = await open();
      client.write(get('/pieces?fails'));
      await client.ended;
      expect(client.unread).not.toContain('\r\n0\r\n\r\n');
      expect((await told('fails')).stops).toBeGreaterThan(0);
    });

    it('waits for a client that does not read, and frees the body when the client disconnects', async () => {
      const client = await open();
      client.socket.pause();
      client.write(get('/many-pieces?slow'));
      let before = -1;
      for (let now = 0; now !== before || now === 0; ) {
        before = now;
        await ask(get('/slow'));
        now = (await told('slow')).pieces;
      }
      expect(before).toBeLessThan(400);
      client.close();
      while ((await told('slow')).stops === 0);
      expect((await told('slow')).pieces).toBeLessThan(400);
    });

    it('sends no chunks in the response to HEAD', async () => {
      const { status, body } = await ask(get('/pieces?head').replace('GET', 'HEAD'), 'HEAD');
      expect([status, body.length, await told('head')]).toEqual([200, 0, { pieces: 0, stops: 1 }]);
    });
  });
}

/** Tests of pipelined requests with immediate responses, which every HTTP engine must pass. */
export function pipelining({ open }: Target): void {
  it('a connection gets the responses to pipelined requests in order', async () => {
    const client = await open();
    const bodies = Array.from({ length: 20 }, (_, at) => `body ${at}`);
    client.write(bodies.map((body) => post('/echo', body)).join('') + get('/describe'));
    for (const body of bodies) expect((await client.read()).body.toString()).toBe(body);
    expect((await client.read()).status).toBe(200);
  });
}
