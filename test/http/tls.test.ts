import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkTlsTime, hostsWithout, readTls } from '../../src/http/tls.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const pem = (name: string) => fileURLToPath(new URL(`support/tls/${name}.pem`, import.meta.url));
const good = { certFile: pem('cert'), keyFile: pem('key') };

describe('readTls', () => {
  it('readTls loads a matching certificate and key', () => {
    expect(Object.values(readTls(good)).every((text) => text.startsWith('-----BEGIN '))).toBe(true);
  });

  it.each([
    [
      'a missing certificate',
      { certFile: '/nowhere/cert.pem' },
      'Cannot read the certificate /nowhere/cert.pem: file not found (ENOENT); --tls-cert must name a file that this user can read',
    ],
    [
      'a missing key',
      { keyFile: '/nowhere/key.pem' },
      'Cannot read the key: file not found (ENOENT); --tls-key must name a file that this user can read',
    ],
    ['a directory as the certificate', { certFile: '/' }, 'Cannot read the certificate /: '],
    [
      'a key where the certificate should be',
      { certFile: good.keyFile },
      `Cannot use the certificate ${good.keyFile}: --tls-cert must name a certificate chain in PEM`,
    ],
    [
      'a certificate where the key should be',
      { keyFile: good.certFile },
      `Cannot use the key ${good.certFile}: --tls-key must name a private key in PEM`,
    ],
    [
      'the key of another certificate',
      { keyFile: pem('other-key') },
      `Cannot use the key ${pem('other-key')}: it does not match the certificate ${good.certFile}; set`,
    ],
  ])('readTls refuses %s', (_what, files, message) => {
    expect(() => readTls({ ...good, ...files })).toThrow(message);
  });

  it('the error of readTls does not quote the content of a file', () => {
    const keyFile = `${temporaryDirectory()}/key.pem`;
    writeFileSync(keyFile, '-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n');
    expect(() => readTls({ ...good, keyFile })).toThrow(/^(?!.*hunter2)Cannot use the key/s);
  });

  it.each([
    ['the key', (key: string) => ({ keyFile: key })],
    ['the key in one line', (key: string) => ({ keyFile: key.replace(/-----.*?-----|\n/g, '') })],
    ['the key, longer than any name', (key: string) => ({ keyFile: `${'A'.repeat(300)}${key}` })],
    ['the key with a zero byte', (key: string) => ({ keyFile: `${key}\0` })],
    ['the key as the certificate', (key: string) => ({ certFile: key })],
  ])('the error of readTls does not quote %s passed as a file name', (_what, given) => {
    const key = readFileSync(good.keyFile, 'utf8');
    const line = key.split('\n')[1]!;
    expect(() => readTls({ ...good, ...given(key) })).toThrow(/^Cannot read the (key|certificate): /);
    expect(() => readTls({ ...good, ...given(key) })).not.toThrow(line);
  });

  it.each([
    [Date.UTC(2000, 0), /^Cannot use the certificate .*cert\.pem: it is not valid before 2026-.*Z; use a certificate/],
    [Date.UTC(2030, 0), undefined],
    [Date.UTC(2200, 0), /^Cannot use the certificate .*cert\.pem: it expired at 2126-.*Z; renew it$/],
  ])('checkTlsTime checks the validity of a certificate at the Unix time %i', (now, message) => {
    const check = () => checkTlsTime(readTls(good), good, now);
    if (message === undefined) check();
    else expect(check).toThrow(message);
  });

  it('hostsWithout returns the hosts for which the certificate is not valid', () => {
    const hosts = ['localhost', '127.0.0.1', 'flags.example.com', '::1'];
    expect(hostsWithout(readTls(good), hosts)).toEqual(['flags.example.com', '::1']);
  });
});
