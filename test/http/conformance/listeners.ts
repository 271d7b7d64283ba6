import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RawClient } from '../support/raw-client.ts';
import { declare, get, post } from '../support/requests.ts';
import { arrival, json, readRefusal, type Target } from '../support/target.ts';

const pem = (name: string) => fileURLToPath(new URL(`../support/tls/${name}.pem`, import.meta.url));

/** Tests of starting and stopping a listener, which every HTTP engine must pass. */
export function listeners({ start, server, open }: Target): void {
  describe.concurrent('HTTP listener', () => {
    it('listening fails with a clear message if the address is in use', async () => {
      const address = `127.0.0.1:${server().port}`;
      await expect(start({ port: server().port })).rejects.toThrow(
        `Cannot listen on ${address}: the address is in use`,
      );
    });

    it('listening fails with a clear message on an address of another machine', async () => {
      await expect(start({ host: '192.0.2.1' })).rejects.toThrow(
        'Cannot listen on 192.0.2.1:0: not an address of this machine',
      );
    });

    it('listening fails with a clear message on an unknown host name', async () => {
      await expect(start({ host: 'nowhere.invalid' })).rejects.toThrow(
        'Cannot listen on nowhere.invalid:0: the host name cannot be resolved',
      );
    });

    it('determines the client address of a request only if the handler reads the address', async () => {
      const asked: string[] = [];
      const { port, stop } = await start({
        findAddress(connected, request) {
          asked.push(connected);
          return `${connected} for ${request.header('x-forwarded-for')}`;
        },
      });
      const client = await open(port);
      client.write(get('/text', 'X-Forwarded-For: a\r\n'));
      await client.read();
      expect(asked).toEqual([]);
      client.write(get('/describe', 'X-Forwarded-For: a\r\nX-FORWARDED-FOR: b, c\r\n'));
      expect(json(await client.read()).remoteAddress).toBe('127.0.0.1 for a, b, c');
      expect(asked).toEqual(['127.0.0.1']);
      client.close();
      await stop();
    });

    it('rejects a second listener on the same address, even with TLS', async () => {
      const secure = { certFile: pem('cert'), keyFile: pem('key') };
      const first = await start({ tls: secure });
      for (const port of [first.port, server().port]) {
        await expect(start({ tls: secure, port })).rejects.toThrow(
          `Cannot listen on 127.0.0.1:${port}: the address is in use`,
        );
      }
      await first.stop();
    });

    it('listening fails with a clear message if the certificate is not readable', async () => {
      const tls = { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' };
      await expect(start({ tls })).rejects.toThrow('Cannot read the certificate /nowhere/cert.pem: ');
    });

    it('serves over TLS with a certificate, including refusals of large bodies', async () => {
      const secure = await start({ tls: { certFile: pem('cert'), keyFile: pem('key') } });
      const client = await RawClient.openTls(secure.port);
      client.write(post('/echo', 'hello'));
      expect((await client.read()).body.toString()).toBe('hello');
      client.write(declare('/echo', 1_000_000));
      const flood = client.flood(1_000_000, Buffer.alloc(10_000));
      await readRefusal(client);
      await flood;
      expect(await client.ended).toBe('closed');
      await secure.stop();
    });

    it('a closing listener sends the responses to open requests, but accepts no new requests', async () => {
      const closing = await start();
      const idle = await open(closing.port);
      const slow = await open(closing.port);
      const sending = await open(closing.port);
      slow.write(get('/until-closing'));
      sending.write(`${declare('/echo', 5)}he`);
      for (const request of ['/until-closing?', '/echo?']) await arrival(request, idle);
      idle.write(post('/shut-down?grace=5000', ''));
      expect((await idle.read()).status).toBe(202);
      sending.write('llo');
      const sent = await sending.read();
      const late = await slow.read();
      expect(sent.body.toString()).toBe('hello');
      expect(json(late)).toBe('late');
      expect([sent, late].map(({ headers }) => headers.get('connection'))).toEqual(['close', 'close']);
      await closing.closed;
      expect(await Promise.all([idle.ended, slow.ended, sending.ended])).toEqual(['closed', 'closed', 'closed']);
      await expect(open(closing.port)).rejects.toThrow('ECONNREFUSED');
      await closing.stop();
    });

    it('a closing listener ends the connections of open requests after the grace period', async () => {
      const closing = await start();
      const asker = await open(closing.port);
      const stuck = await open(closing.port);
      stuck.write(declare('/echo', 5));
      await arrival('/echo?', asker);
      asker.write(post('/shut-down?grace=100', ''));
      await closing.closed;
      await stuck.ended;
      await closing.stop();
    });
  });
}
