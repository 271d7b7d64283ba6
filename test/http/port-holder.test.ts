import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listeningIn, portHolder } from '../../src/http/bind-failure.ts';

describe('portHolder', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '0.0.0.0'],
    ['0.0.0.0', '127.0.0.1'],
    ['::1', '::1'],
    ['::', '127.0.0.1'],
  ])('portHolder finds the process of a server on %s by the address %s', async (host, asked) => {
    const server = createServer().listen(0, host);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    expect(portHolder(asked, port)?.pid).toBe(process.pid);
    await new Promise((resolve) => server.close(resolve));
    expect(portHolder(asked, port)).toBeUndefined();
  });

  test('portHolder ignores a process that listens on the same port of another address', async () => {
    const server = createServer().listen(0, '127.0.0.2');
    await new Promise((resolve) => server.once('listening', resolve));
    expect(portHolder('127.0.0.1', (server.address() as AddressInfo).port)).toBeUndefined();
    server.close();
  });
});

test('listeningIn reads only sockets in state LISTEN, of IPv4 and IPv6', () => {
  const header = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
  const rest = '00000000:00000000 00:00000000 00000000     0        0';
  const text = `${header}   0: 0100007F:1F90 00000000:0000 0A ${rest} 4711 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F91 0100007F:1F90 01 ${rest} 4712 1 0000000000000000 20 4 30 10 -1
   2: B80D0120000000000000000001000000:0050 00000000000000000000000000000000:0000 0A ${rest} 4713 1
`;
  expect(listeningIn(text)).toEqual([
    { address: '127.0.0.1', port: 8080, inode: '4711' },
    { address: '2001:db8::1', port: 80, inode: '4713' },
  ]);
});

test('listeningIn finds no sockets in a text of another format', () => {
  fc.assert(fc.property(fc.string(), (text) => listeningIn(text).length === 0));
});
