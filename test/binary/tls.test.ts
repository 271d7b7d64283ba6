import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { type ConnectionOptions, connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../http/support/raw-client.ts';
import { binaryPath, freshDirectory, type StartedProcess, startBinary, startProcess, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { frontThreads } from '../support/front-threads.ts';
import { needing } from '../support/needing.ts';
import { whyNotOnNode } from '../support/node-engine.ts';

const pem = (name: string) => fileURLToPath(new URL(`../http/support/tls/${name}.pem`, import.meta.url));
const main = fileURLToPath(new URL('../../dist/node/main.js', import.meta.url));

/** Creates a directory with the TLS files of a service. A test can replace the files. */
function tlsDirectory() {
  const directory = freshDirectory();
  const files = ['--tls-cert', `${directory}/cert.pem`, '--tls-key', `${directory}/key.pem`];
  const put = (cert: string, key: string) => {
    copyFileSync(pem(cert), `${directory}/cert.pem`);
    copyFileSync(pem(key), `${directory}/key.pem`);
  };
  put('cert', 'key');
  return { directory, files, put };
}

/** Opens a connection. Returns the common name of the server's certificate, or the failure. */
function nameAt(address: string): Promise<string> {
  const [host, port] = address.split(':') as [string, string];
  return new Promise((resolve) => {
    const options = { host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] };
    const socket = connect(options, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
    socket.once('close', () => resolve('closed'));
  });
}

/** Makes a handshake. Returns the version and the cipher suite that both sides chose, or `refused`. */
function handshake(address: string, options: ConnectionOptions): Promise<string> {
  const [host, port] = address.split(':') as [string, string];
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...options }, () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
      socket.destroy();
    });
    socket.once('error', () => resolve('refused'));
    socket.once('close', () => resolve('refused'));
  });
}

/** Options of a client with one TLS 1.2 suite. OpenSSL offers weak suites only at its lowest security level. */
const only = (suite: string): ConnectionOptions => ({ ciphers: `${suite}:@SECLEVEL=0`, maxVersion: 'TLSv1.2' });

const version = (name: 'TLSv1' | 'TLSv1.1' | 'TLSv1.3'): ConnectionOptions => ({
  ciphers: 'ALL:@SECLEVEL=0',
  minVersion: name,
  maxVersion: name,
});

const refusedSuites = [
  ['rsa', 'AES128-SHA'],
  ['rsa', 'AES256-GCM-SHA384'],
  ['rsa', 'ECDHE-RSA-AES128-SHA'],
  ['rsa', 'ECDHE-RSA-AES256-SHA384'],
  ['rsa', 'DHE-RSA-AES128-GCM-SHA256'],
  ['', 'ECDHE-ECDSA-AES256-SHA'],
] as const;
const acceptedSuites = [
  ['rsa', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['rsa', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['rsa', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
] as const;

async function logLine(service: StartedProcess, text: string): Promise<string> {
  for (;;) {
    const line = service
      .stderr()
      .split('\n')
      .find((each) => each.includes(text));
    if (line !== undefined) return line;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const findGrpcAddress = ({ line }: StartedProcess) => /grpc=(\S+)/.exec(line)?.[1] as string;

const runtimes = [
  ['the executable', [binaryPath]],
  ['Node', [process.execPath, main]],
] as const;

/** The tests of a runtime share a service. Each test puts the files that it needs in the directory of the service. */
for (const [name, [command, ...before]] of runtimes)
  needing({ why: name === 'Node' ? whyNotOnNode : undefined }).describe(`TLS files of ${name}`, () => {
    const { directory, files, put } = tlsDirectory();
    let service: StartedProcess;
    let addresses: readonly string[];

    beforeAll(async () => {
      const data = `${freshDirectory()}/data`;
      const threads = name === 'Node' ? [] : frontThreads(2);
      service = await startProcess(command, [...before, 'serve', '--data', data, ...freePorts, ...threads, ...files]);
      addresses = [service.http, service.metrics, findGrpcAddress(service)];
    });

    afterAll(async () => {
      expect(await stop(service)).toEqual({ code: 0, signal: null });
    });

    /** Sends SIGHUP, and waits until the service has reloaded its files. */
    async function reload(): Promise<void> {
      const count = () => service.stderr().split('reloaded the TLS files').length;
      const known = count();
      service.kill('SIGHUP');
      while (count() === known) await new Promise((resolve) => setTimeout(resolve, 20));
    }

    async function useNormalFiles(): Promise<void> {
      put('cert', 'key');
      await reload();
      for (const address of addresses) while ((await nameAt(address)) !== 'localhost');
    }

    test('TLS handshakes succeed only with forward secrecy and authenticated encryption, also after SIGHUP', async () => {
      const results = async (options: ConnectionOptions) =>
        new Set(await Promise.all([service.http, findGrpcAddress(service)].map((at) => handshake(at, options))));
      const check = async (key: '' | 'rsa') => {
        for (const [of, suite] of refusedSuites)
          if (of === key) expect(await results(only(suite)), suite).toEqual(new Set(['refused']));
        for (const [of, suite] of acceptedSuites)
          if (of === key) expect(await results(only(suite))).toEqual(new Set([`TLSv1.2 ${suite}`]));
        for (const old of ['TLSv1', 'TLSv1.1'] as const)
          expect(await results(version(old))).toEqual(new Set(['refused']));
        for (const result of await results(version('TLSv1.3'))) expect(result).toMatch(/^TLSv1\.3 TLS_/);
      };
      await check('');
      put('rsa-cert', 'rsa-key');
      await reload();
      await check('rsa');
    });

    test('SIGHUP makes the service use the new certificate for new connections, over HTTP and gRPC', async () => {
      await useNormalFiles();
      const slow = await RawClient.openTls(Number(service.http.split(':')[1]));
      slow.write('POST /connect/token HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{');

      put('other-cert', 'other-key');
      await reload();
      for (const address of addresses) while ((await nameAt(address)) !== 'Other');
      slow.write('}');
      expect((await slow.read()).status).toBe(400);
      for (let connection = 0; connection < 20; connection += 1) expect(await nameAt(service.metrics)).toBe('Other');
    });

    test('the service refuses no connection while SIGHUP reloads the certificate', async () => {
      await useNormalFiles();
      const results = new Set<string>();
      let going = true;
      const clients = Array.from({ length: 4 }, async () => {
        while (going) results.add(await nameAt(service.metrics));
      });
      for (let round = 1; round <= 5; round += 1) await reload();
      going = false;
      await Promise.all(clients);
      // The server may close a connection during its handshake, as it may close any connection without a request.
      for (const closed of ['closed', 'ECONNRESET']) results.delete(closed);
      expect([...results]).toEqual(['localhost']);
    });

    test('SIGHUP keeps the certificate if the new certificate cannot be used, and logs the reason', async () => {
      await useNormalFiles();
      put('other-cert', 'key');
      service.kill('SIGHUP');
      expect(await logLine(service, 'cannot be used; keeping the current ones')).toContain(
        `Cannot use the key ${directory}/key.pem: it does not match the certificate ${directory}/cert.pem`,
      );
      expect(await nameAt(service.http)).toBe('localhost');
      expect(await nameAt(findGrpcAddress(service))).toBe('localhost');
    });
  });

test('a server without TLS logs at a SIGHUP that the server has no certificate files to reload', async () => {
  const service = await startBinary({ args: frontThreads(2) });
  service.kill('SIGHUP');
  await logLine(service, 'reloaded the configuration');
  expect((await fetch(`http://${service.http}/healthz`)).status).toBe(200);
  expect(await stop(service)).toEqual({ code: 0, signal: null });
});

describe('serve with TLS files and addresses', () => {
  const { directory, files } = tlsDirectory();
  writeFileSync(`${directory}/broken.pem`, 'nothing');
  test.each([
    [
      'a certificate',
      ['--tls-cert', `${directory}/broken.pem`, '--tls-key', pem('key')],
      /^Cannot use the certificate/,
    ],
    ['a key', [...files.slice(0, 2), '--tls-key', `${directory}/none.pem`], /^Cannot read the key/],
    ['an address of HTTP', ['--listen', '192.0.2.1:0'], /^Cannot listen on 192\.0\.2\.1:0/],
    ['an address of gRPC', ['--grpc-listen', '192.0.2.1:0'], /^Cannot listen on 192\.0\.2\.1:0/],
  ])('serve does not start if %s cannot be used, and creates no directory', async (_what, args, message) => {
    const data = `${freshDirectory()}/data`;
    const started = startProcess(binaryPath, ['serve', '--data', data, ...freePorts, ...args]);
    const error = await started.catch((failure: Error) => failure);
    expect((error as Error).message.split('\n')).toContainEqual(expect.stringMatching(message));
    expect(existsSync(data)).toBe(false);
  });

  test('serve warns about a certificate whose names differ from the public URLs', async () => {
    const { files: own } = tlsDirectory();
    const url = ['--auth-url', 'https://flags.example.com', '--base-url', 'https://localhost'];
    const data = `${freshDirectory()}/data`;
    const service = await startProcess(binaryPath, ['serve', '--data', data, ...freePorts, ...own, ...url]);
    const warning = JSON.parse(await logLine(service, 'is not for a host of the public URLs'));
    expect(warning).toMatchObject({ level: 'warn', hosts: ['flags.example.com'] });
    await stop(service);
  });
});
