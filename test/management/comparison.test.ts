import { beforeAll, describe, expect, it } from 'vitest';
import type { Comparison } from '../../src/contract/shapes/comparison.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { createApplication, createKey, manage, postJson, token } from '../support/binary.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';
import { departures, read } from './support/conformance.ts';

const dayMs = 86_400_000;
let ahead = 0;
const noon = Math.floor(systemClock.now() / dayMs) * dayMs + dayMs / 2;
const clock: Clock = { ...systemClock, now: () => noon + ahead };

const service = opened(() => startLocal({ clock }));
let access: string;
let application: string;
beforeAll(async () => {
  access = await token(service.http, service.credentials);
  application = await createApplication(service.http, access, { name: 'shop', acceptClientIdentities: true });
  const { key: frontend } = await createKey(service.http, access, application, 'Frontend');
  const { key: backend } = await createKey(service.http, access, application, 'Backend');
  await fill(frontend, backend);
  // The data now has counts of complete days, users of the previous day, and an incomplete day.
  ahead = dayMs;
  access = await token(service.http, service.credentials);
  await report(backend, clock.now(), { better: { on: [9_000_000, 1], off: [9_000_000, 9_000_000] } });
});

const operation = 'GET /api/v2/applications/{id}/features/{feature}/comparison';

type Counts = Readonly<Record<string, Readonly<Record<string, readonly [checks: number, used: number]>>>>;

const days = 10;
const people = 220;

/** Sends the counts of ten days up to today, and today's users of each variant. */
async function fill(frontend: string, backend: string): Promise<void> {
  for (let day = 0; day < days; day++) {
    const luck = 1 + 0.1 * Math.sin(day);
    const of = (checks: number, share: number): [number, number] => [checks, Math.round(checks * share * luck)];
    await report(backend, clock.now() - day * dayMs, {
      better: { off: of(1000, 0.2), on: of(1100 + day, 0.6) },
      same: { off: of(1000, 0.2), on: of(1100 + day, 0.2), rare: of(10, 0.2) },
      mixed: { a: of(500, 0.3), b: of(500, 0.3) },
      alone: { on: of(500, 0.5) },
      ...(day < 3 ? { young: { on: of(500, 0.5), off: of(500, 0.5) } } : {}),
    });
  }
  const packets = Array.from({ length: people * 2 }, (_, person) => {
    const given = person % 2 === 0 ? 'on' : 'off';
    const several = { a: [1], ...(person < 60 ? { b: [1] } : {}) };
    const f = {
      better: { [given]: [1] },
      // Three of four people are served the variant `on`, although the declared split is half and half.
      same: { [person % 4 === 0 ? 'off' : 'on']: [1] },
      mixed: person % 2 === 0 ? several : { b: [1] },
      alone: { on: [1] },
      young: { [given]: [1] },
    };
    return send('/api/frontend/telemetry', { k: frontend, e: 'Production', u: `person-${person}`, f });
  });
  expect(new Set(await Promise.all(packets))).toEqual(new Set([202]));
}

async function report(key: string, at: number, counts: Counts): Promise<void> {
  const stats = Object.entries(counts).map(([feature, variants]) => ({
    feature,
    variantStats: Object.fromEntries(
      Object.entries(variants).map(([variant, [checkCount, usedCount]]) => [
        variant,
        { checkCount, usedCount, viewedCount: 0 },
      ]),
    ),
  }));
  const time = new Date(at).toISOString();
  expect(await send('/api/usage/stats', { appKey: key, environment: 'Production', time, stats })).toBe(200);
}

async function send(path: string, body: unknown): Promise<number> {
  return postJson(`http://${service.http}${path}`, body, { origin: 'https://shop.example' });
}

async function compare(feature: string, query: Record<string, string> = {}): Promise<Comparison> {
  const parameters = new URLSearchParams({ environment: 'Production', ...query });
  const path = `/api/v2/applications/${application}/features/${feature}/comparison?${parameters}`;
  const response = await fetch(`http://${service.http}${path}`, { headers: { authorization: `Bearer ${access}` } });
  const received = await read(response);
  expect(departures(operation, received)).toEqual([]);
  return JSON.parse(received.text);
}

const variantIn = ({ variants }: Comparison, name: string) => variants.find(({ variant }) => variant === name)!;

const text = (at: number) => new Date(at).toISOString().slice(0, 10);

describe('a comparison', () => {
  it('a comparison finds an effect and its size, and omits the incomplete day', async () => {
    const comparison = await compare('better', { base: 'off' });
    expect(comparison).toMatchObject({ feature: 'better', event: 'used', base: 'off', outcome: 'difference' });
    expect([comparison.from, comparison.to, comparison.days]).toEqual([
      text(clock.now() - days * dayMs),
      text(clock.now() - dayMs),
      days,
    ]);
    const [on, off] = ['on', 'off'].map((name) => variantIn(comparison, name));
    expect(off).toMatchObject({ users: people, checks: days * 1000 + people, difference: null });
    expect(on!.rate).toBeCloseTo(0.6, 1);
    expect(on!.difference).toMatchObject({ days });
    expect(on!.difference!.estimate).toBeCloseTo(0.4, 1);
    expect(on!.difference!.interval[0]).toBeGreaterThan(0);
    expect(on!.difference!.pAdjusted).toBeLessThan(0.05);
    expect(comparison.why).toMatch(
      /^With on, \d+\.\d % of checks led to a use, which is \d+\.\d percentage points more than with off \(\d+\.\d to \d+\.\d, p [=<] 0\.0\d\d\)\.$/,
    );
  });

  it('a comparison reports an unclear difference, and omits a variant with too few users', async () => {
    const comparison = await compare('same');
    expect(comparison).toMatchObject({ base: 'off', outcome: 'no_clear_difference' });
    expect(comparison.why).toMatch(/^Inconclusive: anything from no difference to \d+\.\d percentage points\.$/);
    expect(variantIn(comparison, 'rare')).toMatchObject({ users: 0, difference: null, interval: null });
  });

  it('a comparison keeps its base in every range, even if the base was not served', async () => {
    const yesterday = new Date(clock.now() - dayMs).toISOString();
    for (const query of [{}, { from: yesterday }]) expect((await compare('same', query)).base).toBe('off');
    const old = new Date(clock.now() - 20 * dayMs).toISOString();
    const young = await compare('young', { base: 'off', from: old, to: yesterday });
    expect(young).toMatchObject({ base: 'off', outcome: 'not_enough' });
  });

  it.each<[string, string, Record<string, string>, RegExp]>([
    ['a single variant', 'alone', {}, /^Only on was served on these days\.$/],
    ['too few days', 'young', {}, /^(on|off) and (on|off) were both served on 3 whole UTC days; .* at least 7/],
    ['too few events', 'better', { event: 'viewed' }, /has 0 events on these days; .* at least 5\.$/],
    ['a base with hardly any users', 'same', { base: 'rare' }, /^rare has 0 users on these days; .* 100\.$/],
  ])('a comparison reports insufficient data for %s', async (_, feature, query, why) => {
    const comparison = await compare(feature, query);
    expect(comparison).toMatchObject({ outcome: 'not_enough', why: expect.stringMatching(why) });
    expect(comparison.variants.every(({ difference }) => difference === null)).toBe(true);
  });

  it('a comparison is empty for a range without a complete day', async () => {
    const comparison = await compare('better', { from: new Date(clock.now()).toISOString() });
    expect(comparison).toMatchObject({ from: null, to: null, days: 0, base: null, variants: [] });
    expect(comparison.why).toBe('No whole UTC day of this range is over yet.');
  });

  it('a comparison covers every day that overlaps the range', async () => {
    const yesterday = Math.floor(clock.now() / dayMs) * dayMs - dayMs;
    const from = new Date(yesterday - 2 * dayMs + 5 * 3_600_000).toISOString();
    const to = new Date(yesterday - 3_600_000).toISOString();
    const comparison = await compare('better', { from, to });
    expect(comparison).toMatchObject({ from: text(yesterday - 2 * dayMs), to: text(yesterday - dayMs), days: 2 });
    expect(variantIn(comparison, 'off').checks).toBe(2000);
  });

  it('a comparison warns if users were served several variants', async () => {
    expect((await compare('better')).severalVariants).toEqual({ share: 0, warn: false });
    expect((await compare('mixed')).severalVariants).toEqual({ share: 30 / (2 * people), warn: true });
    expect((await compare('alone')).severalVariants).toBeNull();
  });

  it('a comparison checks the declared split against the served variants', async () => {
    expect((await compare('better')).sampleRatio).toBeNull();
    for (const feature of ['better', 'same']) {
      const path = `/api/v2/applications/${application}/features/${feature}`;
      await manage(service.http, access, 'PATCH', path, 200, { split: { on: 1, off: 1 } });
    }
    expect((await compare('better')).sampleRatio).toEqual({
      expected: { on: 0.5, off: 0.5 },
      observed: { on: 0.5, off: 0.5 },
      p: 1,
      mismatch: false,
    });
    expect((await compare('same')).sampleRatio).toMatchObject({ observed: { on: 0.75, off: 0.25 }, mismatch: true });
  });

  it.each<[string, string, number, string]>([
    ['a missing environment', 'better/comparison', 400, 'invalid_query'],
    ['an unknown environment', 'better/comparison?environment=Moon', 404, 'unknown_environment'],
    ['an unknown event', 'better/comparison?environment=Production&event=seen', 400, 'invalid_query'],
    [
      'an empty range',
      'better/comparison?environment=Production&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
      400,
      'invalid_query',
    ],
    ['a feature that was never seen', 'none/comparison?environment=Production', 404, 'not_found'],
  ])('a comparison is refused for %s', async (_, path, status, code) => {
    const base = `/api/v2/applications/${application}/features/`;
    expect(await manage(service.http, access, 'GET', base + path, status)).toMatchObject({ code });
  });
});
