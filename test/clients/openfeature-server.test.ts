import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { flagmeter } from '../../clients/openfeature/src/server.ts';
import { type FlakyHost, startFlakyHost } from '../browser/support/pages.ts';

let host: FlakyHost;
beforeAll(async () => {
  host = await startFlakyHost('');
});
afterAll(() => host.close());
beforeEach(() => {
  (host.received as unknown[]).length = 0;
  host.respondWith();
});

/** Creates a sender. Unless a test flushes it, its first report waits for an hour. */
const open = (options: object = {}) =>
  flagmeter({ url: `${host.url}/`, key: 'fm_be_x', environment: 'Production', seconds: 3600, ...options });

const bodies = () => host.received.map(({ body }) => JSON.parse(body));
/** Returns the hash of a user: the first 48 bits of SHA-256. */
const firstBitsOf = (targetingKey: string) =>
  Number.parseInt(createHash('sha256').update(targetingKey).digest('hex').slice(0, 12), 16);

const keys = () => host.received.map(({ headers }) => headers['idempotency-key']);

describe('the server sender', () => {
  it('reports counts by feature and variant', async () => {
    const meter = open({ instanceName: 'web-1' });
    for (let each = 0; each < 3; each += 1) meter.checked('checkout', 'on');
    meter.checked('checkout', 'off');
    meter.used('checkout', 'on');
    meter.viewed('banner', 'red');
    await meter.flush();
    expect(host.received.map(({ path }) => path)).toEqual(['/api/usage/stats']);
    const [{ time, processStartTime, ...rest }] = bodies();
    expect(rest).toEqual({
      appKey: 'fm_be_x',
      environment: 'Production',
      instanceName: 'web-1',
      stats: [
        {
          feature: 'checkout',
          variantStats: {
            on: { checkCount: 3, usedCount: 1, viewedCount: 0 },
            off: { checkCount: 1, usedCount: 0, viewedCount: 0 },
          },
        },
        { feature: 'banner', variantStats: { red: { checkCount: 0, usedCount: 0, viewedCount: 1 } } },
      ],
    });
    expect(Date.parse(processStartTime)).toBeLessThanOrEqual(Date.parse(time));
  });

  it('reports counters and gauges as metrics', async () => {
    const meter = open();
    meter.add('revenue', 20.5);
    meter.add('revenue');
    meter.set('queue-length', 9);
    meter.set('queue-length', 7);
    await meter.flush();
    expect(host.received.map(({ path }) => path)).toEqual(['/api/metrics']);
    const [{ time, instanceName, counters, observations }] = bodies();
    expect(instanceName).toBe(hostname());
    expect(counters).toEqual([{ metric: 'revenue', value: 21.5 }]);
    expect(observations).toEqual([{ metric: 'queue-length', value: 7, time }]);
  });

  it.each([
    [{}, /^flagmeter-openfeature\/\d+\.\d+\.\d+$/],
    [{ service: 'checkout', version: '1.4.0' }, /^checkout\/1\.4\.0 \(flagmeter-openfeature\/[\d.]+\)$/],
    [{ service: 'Kassé (neu)\n' }, /^Kass-neu- \(flagmeter-openfeature\/[\d.]+\)$/],
  ])('states its name in the User-Agent with the options %j', async (options, expected) => {
    const meter = open(options);
    meter.checked('checkout', 'on');
    await meter.flush();
    expect(host.received[0]!.headers['user-agent']).toMatch(expected);
    expect(host.received[0]!.headers['content-type']).toBe('application/json');
  });

  it.each([0, 429, 503])('repeats the same report first after status %i (0: no response)', async (status) => {
    const meter = open();
    host.respondWith(status, status, 200);
    meter.checked('checkout', 'on');
    await meter.flush();
    meter.checked('checkout', 'on');
    meter.checked('banner', 'red');
    await meter.flush();
    await meter.flush();
    const [first, second, third, later] = bodies();
    expect([second, third]).toEqual([first, first]);
    expect(later.stats.map(({ feature }: { feature: string }) => feature)).toEqual(['checkout', 'banner']);
    expect(later.stats[0].variantStats).toEqual({ on: { checkCount: 1, usedCount: 0, viewedCount: 0 } });
    const [key, ...others] = keys();
    expect(key).toMatch(/^[\da-f-]{36}$/);
    expect(others.slice(0, 2)).toEqual([key, key]);
    expect(others[2]).not.toBe(key);
    expect(host.received).toHaveLength(4);
  });

  it('splits a report that is too large, and gives each part its own Idempotency-Key', async () => {
    const meter = open();
    host.respondWith(413, 200, 200);
    for (let at = 0; at < 100; at += 1) meter.checked(`feature-${at}`, 'on');
    await meter.flush();
    const parts = bodies().slice(1);
    const features = parts.flatMap(({ stats }) => stats.map(({ feature }: { feature: string }) => feature));
    expect(parts.length).toBeGreaterThan(1);
    expect([features.length, new Set(features).size]).toEqual([100, 100]);
    expect(new Set(keys()).size).toBe(host.received.length);
  });

  it('reports the users of each flag once, as hashes', async () => {
    const meter = open();
    for (const targetingKey of ['ada', 'bob', 'ada', '', undefined])
      meter.hook.after({ flagKey: 'checkout', context: { targetingKey } }, { value: true, variant: 'on' });
    meter.hook.after({ flagKey: 'banner', context: { targetingKey: 'ada' } }, { value: 'red' });
    meter.checked('search', 'on');
    await meter.flush();
    const [{ stats }] = bodies();
    const [ada, bob] = stats[0].uniqueUserHashes;
    expect([ada, bob]).toEqual(['ada', 'bob'].map(firstBitsOf));
    expect(stats[1].uniqueUserHashes).toEqual([ada]);
    expect(stats[2]).not.toHaveProperty('uniqueUserHashes');
    expect(host.received[0]!.body).not.toMatch(/"(ada|bob)"/);
  });

  it('divides the users of a split report between its parts, and sends no users if countUsers is false', async () => {
    const meter = open();
    const anonymous = open({ countUsers: false });
    host.respondWith(413);
    for (const { hook } of [meter, anonymous])
      for (let at = 0; at < 100; at += 1)
        hook.after({ flagKey: `flag-${at}`, context: { targetingKey: `user-${at}` } }, { value: true });
    await meter.flush();
    const parts = bodies()
      .slice(1)
      .flatMap(({ stats }) => stats);
    expect(parts).toHaveLength(100);
    for (const { feature, uniqueUserHashes } of parts)
      expect(uniqueUserHashes).toEqual([firstBitsOf(feature.replace('flag', 'user'))]);
    await anonymous.flush();
    expect(host.received.at(-1)!.body).not.toContain('uniqueUserHashes');
  });

  it('sends at most 50,000 users in a report, and counts all evaluations', async () => {
    const meter = open();
    for (let at = 0; at < 50_100; at += 1)
      meter.hook.after({ flagKey: 'checkout', context: { targetingKey: `user-${at}` } }, { value: true });
    await meter.flush();
    const [{ uniqueUserHashes, variantStats }] = bodies()[0].stats;
    expect([uniqueUserHashes.length, variantStats.enabled.checkCount]).toEqual([50_000, 50_100]);
  });

  it.each([
    ['60', 60],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 300],
    ['86400', 300],
  ])('waits before it repeats a report if the response has Retry-After: %s', async (retryAfter, seconds) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const request = vi.spyOn(globalThis, 'fetch');
    try {
      const meter = open({ seconds: 1 });
      host.respondWith(429);
      host.headers = { 'retry-after': retryAfter };
      meter.checked('checkout', 'on');
      await meter.flush();
      vi.advanceTimersByTime(seconds * 1000 - 1000);
      expect(request).toHaveBeenCalledTimes(1);
      vi.advanceTimersByTime(3000);
      expect(request).toHaveBeenCalledTimes(2);
      await meter.flush();
    } finally {
      host.headers = {};
      request.mockRestore();
      vi.useRealTimers();
    }
  });

  it('warns once that the server refuses its counts, and continues to send', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const meter = open();
    host.respondWith(404, 404, 200);
    for (let each = 0; each < 3; each += 1) {
      meter.checked(`feature-${each}`, 'on');
      await meter.flush();
    }
    const text = `flagmeter: ${host.url}/api/usage/stats (unknown appKey or environment): status 404; counts are lost`;
    expect(warn.mock.calls).toEqual([[text]]);
    warn.mockRestore();
    expect(bodies().map(({ stats }) => stats[0].feature)).toEqual(['feature-0', 'feature-1', 'feature-2']);
  });

  it('counts flags and variants with names such as __proto__', async () => {
    const meter = open();
    for (const name of ['__proto__', 'constructor', 'a"b\\c']) meter.checked(name, name);
    await meter.flush();
    expect(host.received[0]!.body).toContain('{"feature":"__proto__","variantStats":{"__proto__":{');
    expect(bodies()[0].stats.map(({ feature }: { feature: string }) => feature)).toEqual([
      ...['__proto__', 'constructor', 'a"b\\c'],
    ]);
  });

  it.each([
    [{ url: 'flags.example.com' }, 'url must be like https://flags.example.com'],
    [{ url: undefined }, 'url must be like https://flags.example.com'],
    [{ key: '' }, 'key must be a Backend key of the application'],
    [{ environment: undefined }, 'environment must be the name of an environment'],
  ])('flagmeter throws a TypeError for the option %j', (options, message) => {
    expect(() => open(options)).toThrow(new TypeError(message));
  });
});
