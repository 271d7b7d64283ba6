import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import type { Log } from '../../src/runtime/log.ts';
import { checkPublicUrls, type HostListener, publicUrls, warnOfPlainPasswords } from '../../src/serve/listeners.ts';
import { load } from '../support/load-config.ts';

const everywhere = ['--listen', '0.0.0.0:8080'];
const url = 'https://flags.example.com';
const authUrl = ['--auth-url', url];

describe('a listener whose address implies no URL', () => {
  const apart = ['--api-listen', '[::]:8082', '--metrics-listen', ':8083'];

  test.each([
    [everywhere, '0.0.0.0:8080 without --auth-url:'],
    [['--listen', ':8080'], ':8080 without --auth-url:'],
    [['--listen', '0:8080'], '0:8080 without --auth-url:'],
    [['--listen', '[::]:0'], '[::]:0 without --auth-url:'],
    [['--listen', '[0:0::0]:80'], '[0:0::0]:80 without --auth-url:'],
    [['--listen', '[::ffff:0.0.0.0]:80'], '[::ffff:0.0.0.0]:80 without --auth-url:'],
    [['--listen', '[fe80::1%eth0]:80'], '[fe80::1%eth0]:80 without --auth-url:'],
    [[...everywhere, '--base-url', url], '0.0.0.0:8080 without --auth-url:'],
    [['--auth-listen', '0.0.0.0:1'], '0.0.0.0:1 without --auth-url:'],
    [[...everywhere, '--auth-listen', '127.0.0.1:1'], '0.0.0.0:8080 without --base-url and --metrics-url:'],
    [[...apart, ...authUrl], '[::]:8082 without --base-url:'],
    [[...apart, ...authUrl, '--base-url', url], ':8083 without --metrics-url:'],
  ])('serve requires public URLs for the addresses in %j', (argv, words) => {
    const check = () => checkPublicUrls(load(argv));
    expect(check).toThrow(UsageError);
    expect(check).toThrow(`Cannot listen on ${words}`);
    expect(check).toThrow(/such as --(auth|base|metrics)-url https:/);
  });

  test.each([
    [[]],
    [['--listen', '10.0.0.5:8080']],
    [['--listen', '[2001:db8::1]:8080']],
    [['--listen', 'flags.internal:8080']],
    [[...everywhere, ...authUrl]],
    [[...apart, ...authUrl, '--base-url', url, '--metrics-url', url]],
    [['--ops-listen', '0.0.0.0:9090']],
    [['--grpc-listen', '0.0.0.0:8081']],
  ])('serve requires no further public URL with %j', (argv) => {
    expect(() => checkPublicUrls(load(argv))).not.toThrow();
  });
});

test.each([
  [[], { auth: 'http://127.0.0.1:1', api: 'http://127.0.0.1:1', metrics: 'http://127.0.0.1:1' }],
  [
    ['--listen', 'localhost:0'],
    { auth: 'http://localhost:1', api: 'http://localhost:1', metrics: 'http://localhost:1' },
  ],
  [authUrl, { auth: url, api: url, metrics: url }],
  [['--base-url', url], { auth: 'http://127.0.0.1:1', api: url, metrics: 'http://127.0.0.1:1' }],
  [[...authUrl, '--base-url', 'https://api.example'], { auth: url, api: 'https://api.example', metrics: url }],
])('the public URLs with %j are %j', (argv, urls) => {
  expect(publicUrls(load(argv), [createListener('auth', 'api', 'metrics')])).toEqual(urls);
});

test('a host with its own listener does not share the URL of the token host', () => {
  const config = load([...authUrl, '--metrics-listen', '127.0.0.1:2']);
  const listeners = [createListener('auth', 'api'), createListener('metrics')];
  expect(publicUrls(config, listeners)).toEqual({ auth: url, api: url, metrics: 'http://127.0.0.1:1' });
});

test.each([
  ['http://flags.internal:8080', true],
  ['http://10.0.0.5:8080', true],
  ['http://localhost.example.com', true],
  ['http://127.0.0.1:8080', false],
  ['http://[::1]:8080', false],
  ['http://localhost:8080', false],
  ['http://flags.localhost', false],
  [url, false],
])('the server warns of passwords without TLS at %s: %s', (auth, warned) => {
  const warnings: string[] = [];
  const log = { warn: (message: string) => warnings.push(message) } as unknown as Log;
  warnOfPlainPasswords({ auth, api: auth, metrics: auth }, log);
  expect(warnings).toEqual(warned ? ['passwords and tokens travel without TLS'] : []);
});

function createListener(...hosts: HostListener['hosts'][number][]): HostListener {
  return { hosts, listener: { host: '127.0.0.1', port: 1 } as HostListener['listener'] };
}
