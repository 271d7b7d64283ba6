import { describe, expect, it } from 'vitest';
import { type ConfigSources, loadConfig } from '../src/serve/config/config.ts';

function load(argv: readonly string[], env: ConfigSources['env'] = {}, file = '{}') {
  return loadConfig({ argv, env, readFile: () => file });
}

describe('--trusted-proxies', () => {
  it('--trusted-proxies accepts addresses, networks and names, from every source of settings', () => {
    const list = 'loopback, 10.0.0.0/8,2001:db8::1';
    expect(load(['--trusted-proxies', list]).trustedProxies).toBe(list);
    expect(load([], { FLAGMETER_TRUSTED_PROXIES: list }).trustedProxies).toBe(list);
    expect(load(['--config', 'f'], {}, JSON.stringify({ trustedProxies: list })).trustedProxies).toBe(list);
    expect(load([], { FLAGMETER_TRUSTED_PROXIES: '' }).trustedProxies).toBeUndefined();
  });

  it('the error for invalid trusted proxies contains the wrong entry', () => {
    const list = '10.0.0.0/8,10.0.0.256';
    const why = '10.0.0.256 is not an address, a network such as 10.0.0.0/8, loopback or private';
    expect(() => load(['--trusted-proxies', list])).toThrow(`Cannot use --trusted-proxies ${list}: ${why}`);
    expect(() => load([], { FLAGMETER_TRUSTED_PROXIES: list })).toThrow(
      `Cannot use --trusted-proxies ${list} (from FLAGMETER_TRUSTED_PROXIES): ${why}`,
    );
    expect(() => load(['--trusted-proxies', ' '])).toThrow('must be addresses and networks');
  });
});

it('--proxy-header accepts the values x-forwarded-for and forwarded', () => {
  expect(load([]).proxyHeader).toBe('x-forwarded-for');
  expect(load(['--proxy-header', 'forwarded']).proxyHeader).toBe('forwarded');
  expect(() => load(['--proxy-header', 'x-real-ip'])).toThrow('must be x-forwarded-for or forwarded');
});
