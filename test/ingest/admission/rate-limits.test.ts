import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Bucket,
  KeyedLimits,
  RateLimits,
  TokenBucket,
  UnknownSenders,
} from '../../../src/ingest/admission/rate-limits.ts';
import { SharedBucket, SharedRateLimits, ThreadRateLimits } from '../../../src/ingest/admission/shared-rate-limits.ts';

interface Implementation {
  open(rate: number, burst: number, now: number): Bucket;
  limits(rate: number, burst: number): RateLimits;
}

const inMemory: Implementation = {
  open: (...limit) => new TokenBucket(...limit),
  limits: (...limit) => new RateLimits(...limit),
};

/** Time on the main thread's clock at which another thread's clock starts, ms. */
const origin = 5000;

const inSharedMemory: Implementation = {
  open: (rate, burst) => new SharedBucket({ application: 1, rate, burst, memory: SharedBucket.memory() }, origin),
  limits: (...limit) => new SharedRateLimits(...limit, () => {}),
};

/** Rate limits of a thread. The main thread opens the buckets for it. */
class FollowingLimits extends ThreadRateLimits {
  readonly #main: SharedRateLimits;

  constructor(rate: number, burst: number) {
    super(rate, burst, origin);
    this.#main = new SharedRateLimits(rate, burst, (limit) => this.learn(structuredClone(limit)));
  }

  protected override open(...asked: Parameters<ThreadRateLimits['open']>): Bucket {
    const [number, { rate, burst }, now] = asked;
    this.#main.wait({ number, rate, burst }, now, 1);
    return super.open(...asked);
  }
}

const inThread: Implementation = { ...inSharedMemory, limits: (...limit) => new FollowingLimits(...limit) };

describe.each([
  ['buckets in memory', inMemory],
  ['buckets in shared memory', inSharedMemory],
  ['buckets in another thread', inThread],
])('%s', (_, { open, limits: openLimits }) => {
  test('a new bucket grants its burst immediately and then returns the time to wait', () => {
    const bucket = open(10, 3, 0);
    expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([0, 0, 0]);
    expect(bucket.take(0)).toBeCloseTo(0.1);
    expect(bucket.take(99)).toBeCloseTo(0.001);
    expect(bucket.take(100)).toBe(0);
  });

  test('a bucket loses no tokens when the clock steps back', () => {
    const bucket = open(1, 2, 1000);
    expect(bucket.take(500)).toBe(0);
    expect(bucket.take(500)).toBe(0);
    expect(bucket.take(500)).toBeGreaterThan(0);
  });

  test('a bucket passes at most burst + rate × time tokens in any period, and the returned wait always suffices', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 50 }), gaps, (rate, burst, waits) => {
        const bucket = open(rate, burst, 0);
        let now = 0;
        let passed = 0;
        for (const wait of waits) {
          now += wait;
          const seconds = bucket.take(now);
          if (seconds > 0) {
            now += seconds * 1000 + 0.001;
            expect(bucket.take(now)).toBe(0);
          }
          passed += 1;
          expect(passed).toBeLessThanOrEqual(burst + (rate * now) / 1000 + 1e-6);
        }
      }),
    );
  });

  test('each application has its own bucket, with its own rate and burst if they are set', () => {
    const limits = openLimits(100, 100);
    const slow = { number: 1, rate: 1, burst: 1 };
    const usual = { number: 2, rate: null, burst: 2 };
    expect([limits.take(slow, 0, 1), limits.take(slow, 0, 1)]).toEqual([0, 1]);
    expect([limits.take(usual, 0, 1), limits.take(usual, 0, 1), limits.take(usual, 0, 1)]).toEqual([0, 0, 0.01]);
  });

  test.each([
    { rate: 0, burst: null },
    { rate: 0, burst: 0 },
    { rate: 1_000, burst: null },
    { rate: null, burst: 1_000 },
  ])('an application with the limits %j cannot exceed the limits of the service', (own) => {
    const limits = openLimits(10, 20);
    for (let packet = 0; packet < 20; packet += 1) expect(limits.take({ number: 1, ...own }, 0, 1)).toBe(0);
    expect(limits.take({ number: 1, ...own }, 0, 1)).toBeCloseTo(0.1);
  });

  test('an application can have an unlimited rate if the service has no rate limit', () => {
    const limits = openLimits(0, 0);
    const unlimited = { number: 3, rate: 0, burst: null };
    for (let packet = 0; packet < 100; packet += 1) expect(limits.take(unlimited, 0, 1)).toBe(0);
    const limited = { number: 4, rate: 1, burst: 1 };
    expect([limits.take(limited, 0, 1), limits.take(limited, 0, 1)]).toEqual([0, 1]);
  });

  test('a changed rate or burst takes effect on the next packet', () => {
    const limits = openLimits(100, 100);
    limits.take({ number: 1, rate: 1, burst: 1 }, 0, 1);
    expect(limits.take({ number: 1, rate: 1, burst: 1 }, 0, 1)).toBeGreaterThan(0);
    expect(limits.take({ number: 1, rate: 5, burst: 5 }, 0, 1)).toBe(0);
  });

  test('a packet waits until the debt of its application is paid off', () => {
    const limits = openLimits(10, 20);
    const application = { number: 1, rate: null, burst: null };
    limits.owe(application, 0, 50);
    expect(limits.wait(application, 0, 1)).toBeCloseTo(3.1);
    expect(limits.take(application, 3_000, 1)).toBeCloseTo(0.1);
    expect(limits.take(application, 3_100, 1)).toBe(0);
  });

  test.each([
    { bytes: 0, cost: 1 },
    { bytes: 4096, cost: 1 },
    { bytes: 4097, cost: 2 },
    { bytes: 60_000, cost: 15 },
  ])('a body of $bytes bytes costs $cost tokens', ({ bytes, cost }) => {
    const limits = openLimits(100, 100);
    const application = { number: 1, rate: null, burst: null };
    let passed = 0;
    while (limits.take(application, 0, bytes) === 0) passed += 1;
    expect(passed).toBe(Math.floor(100 / cost));
  });

  test('a request that costs more than a full bucket passes, and its debt delays the next request', () => {
    const bucket = open(10, 20, 0);
    expect(bucket.take(0, 50)).toBe(0);
    expect(bucket.take(0, 1)).toBeCloseTo(3.1);
    expect(bucket.take(3000, 1)).toBeCloseTo(0.1);
    expect(bucket.take(3100, 1)).toBe(0);
    expect(bucket.take(3100, 50)).toBeCloseTo(2);
  });
});

test('a token bucket with a rate of 0 has no limit', () => {
  const bucket = new TokenBucket(0, 0, 0);
  for (let packet = 0; packet < 1000; packet += 1) expect(bucket.take(0)).toBe(0);
});

describe('ThreadRateLimits', () => {
  const application = { number: 1, rate: null, burst: null };

  test('covers returns true once the main thread has opened a bucket with the same limits for the application', () => {
    const thread = new ThreadRateLimits(10, 20, 0);
    const main = new SharedRateLimits(10, 20, (limit) => thread.learn(limit));
    expect(thread.covers(application)).toBe(false);
    expect(() => thread.take(application, 0, 1)).toThrow('lacks the rate limit');
    main.take(application, 0, 1);
    expect(thread.covers(application)).toBe(true);
    thread.set(10, 30);
    expect(thread.covers(application)).toBe(false);
    main.set(10, 30);
    main.take(application, 0, 1);
    expect(thread.covers(application)).toBe(true);
    expect(thread.covers({ number: 1, rate: 5, burst: 5 })).toBe(false);
    thread.forget(1);
    expect(thread.covers(application)).toBe(false);
  });

  test('covers returns true for every application that has no limit', () => {
    const thread = new ThreadRateLimits(0, 0, 0);
    expect(thread.covers(application)).toBe(true);
    expect(thread.take(application, 0, 1)).toBe(0);
  });

  test('a thread takes tokens from the same bucket as the main thread', () => {
    const thread = new ThreadRateLimits(10, 4, 0);
    const main = new SharedRateLimits(10, 4, (limit) => thread.learn(limit));
    expect([main, thread, main, thread].map((each) => each.take(application, 0, 1))).toEqual([0, 0, 0, 0]);
    expect(thread.take(application, 0, 1)).toBeCloseTo(0.1);
    thread.owe(application, 0, 10);
    expect(main.wait(application, 0, 1)).toBeCloseTo(1.1);
    main.set(10, 5);
    expect(main.take(application, 0, 1)).toBe(0);
    thread.set(10, 5);
    expect(thread.take(application, 0, 1)).toBe(0);
  });
});

test('KeyedLimits keeps separate tokens for each key', () => {
  const limits = new KeyedLimits(2, 2);
  expect([limits.take('a', 0), limits.take('a', 0), limits.take('a', 0), limits.take('b', 0)]).toEqual([0, 0, 0.5, 0]);
  expect(limits.take('a', 500)).toBe(0);
});

test('KeyedLimits with a rate of 0 has no limit and keeps no buckets', () => {
  const limits = new KeyedLimits(0, 1);
  for (let at = 0; at < 100; at += 1) expect(limits.take('a', 0)).toBe(0);
  expect(limits.size).toBe(0);
});

test('KeyedLimits keeps a limited number of buckets, including the bucket of the key in use', () => {
  const limits = new KeyedLimits(1, 1, 3);
  expect(limits.take('busy', 0)).toBe(0);
  for (let key = 0; key < 100; key += 1) {
    limits.take(`stranger ${key}`, 0);
    expect(limits.take('busy', 0)).toBeGreaterThan(0);
  }
  expect(limits.size).toBe(3);
});

test('KeyedLimits keeps the most recently used keys, also after the limits have changed', () => {
  const max = 4;
  const uses = fc.array(fc.oneof(fc.nat(9), fc.constant('changed' as const)), { maxLength: 200 });
  fc.assert(
    fc.property(uses, (all) => {
      const limits = new KeyedLimits(1, 1, max);
      let rate = 1;
      let kept: string[] = [];
      for (const use of all) {
        if (use === 'changed') {
          rate += 1;
          limits.set(rate, 1);
          kept = [];
          continue;
        }
        const key = `key ${use}`;
        expect(limits.take(key, 0) > 0).toBe(kept.includes(key));
        kept = [...kept.filter((each) => each !== key), key].slice(-max);
        expect(limits.size).toBe(kept.length);
      }
    }),
  );
});

/** Takes tokens like `Payer`. */
function take(senders: UnknownSenders, address: string, now: number, tokens: number): number {
  const wait = senders.wait(address, now, tokens);
  if (wait === 0) senders.owe(address, now, tokens);
  return wait;
}

test('a network in debt does not block other networks', () => {
  const senders = new UnknownSenders(0);
  expect(take(senders, '192.0.2.1', 0, 3)).toBe(0);
  senders.owe('192.0.2.1', 0, 500);
  expect(senders.wait('192.0.2.1', 0, 1)).toBeGreaterThan(0);
  expect(take(senders, '192.0.2.1', 0, 1)).toBeGreaterThan(0);
  expect(take(senders, '192.0.2.2', 0, 1)).toBe(0);
});

test('all addresses of an IPv6 network share one limit', () => {
  const senders = new UnknownSenders(0);
  senders.owe('2001:db8::1', 0, 500);
  expect(senders.wait('2001:db8::2', 0, 1)).toBeGreaterThan(0);
  expect(senders.wait('2001:db8:0:1::2', 0, 1)).toBe(0);
});

test('all networks together have a limit in addition to the limit of each network', () => {
  const senders = new UnknownSenders(0);
  const passed = Array.from({ length: 30 }, (_, n) => take(senders, `192.0.2.${n}`, 0, 200) === 0);
  expect(passed.filter(Boolean)).toHaveLength(20);
});

test('a report of 4 MiB passes once its network has paid off earlier reports', () => {
  const senders = new UnknownSenders(0);
  expect(take(senders, '192.0.2.1', 0, 1024)).toBe(0);
  expect(take(senders, '192.0.2.1', 1_000, 1024)).toBeGreaterThan(0);
  expect(take(senders, '192.0.2.1', 80_000, 1024)).toBe(0);
});
