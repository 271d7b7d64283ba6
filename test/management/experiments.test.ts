import { beforeAll, describe, expect, it } from 'vitest';
import type { Experiment, ExperimentResult, Power } from '../../src/contract/shapes/experiment.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { createApplication, createKey, manage, postJson, token } from '../support/binary.ts';
import { opened } from '../support/opened.ts';
import { startLocal } from '../support/service.ts';

const dayMs = 86_400_000;
let ahead = 0;
const midnight = Math.floor(systemClock.now() / dayMs) * dayMs;
const clock: Clock = { ...systemClock, now: () => midnight + dayMs / 2 + ahead };

const service = opened(() => startLocal({ clock }));
let access: string;
let base: string;
beforeAll(async () => {
  access = await token(service.http, service.credentials);
  const application = await createApplication(service.http, access, { name: 'shop', acceptClientIdentities: true });
  base = `/api/v2/applications/${application}`;
  const { key: frontend } = await createKey(service.http, access, application, 'Frontend');
  const { key: backend } = await createKey(service.http, access, application, 'Backend');
  await ask('PUT', '/metrics/orders', 201, { kind: 'counter' });
  await fill(frontend, backend);
  await ask('GET', '/usage?environment=Production', 200); // The response waits for all counts of this day.
  ahead = dayMs;
  access = await token(service.http, service.credentials);
});

const ask = (method: string, path: string, status: number, body?: object) =>
  manage(service.http, access, method, base + path, status, body) as Promise<never>;

/**
 * Sends the counts of fourteen days up to today, and the users of today. A day later, all of these days are complete.
 */
async function fill(frontend: string, backend: string): Promise<void> {
  for (let day = 0; day < 14; day += 1) {
    const time = new Date(clock.now() - day * dayMs).toISOString();
    const luck = 1 + 0.05 * Math.sin(day);
    const stats = ['off', 'on'].map((variant) => {
      const checkCount = 1000;
      const usedCount = Math.round(checkCount * luck * (variant === 'on' ? 0.55 : 0.2));
      return [variant, { checkCount, usedCount, viewedCount: 500 }] as const;
    });
    const report = { appKey: backend, environment: 'Production', time };
    const feature = { feature: 'checkout', variantStats: Object.fromEntries(stats) };
    expect(await send('/api/usage/stats', { ...report, stats: [feature] })).toBe(200);
    const observations = [
      { metric: 'orders', feature: 'checkout', time, variantValues: { on: 60 + day, off: 20 + day } },
    ];
    expect(await send('/api/metrics', { ...report, observations })).toBe(200);
  }
  const packets = Array.from({ length: 600 }, (_, person) => {
    const f = {
      checkout: { [person % 2 === 0 ? 'on' : 'off']: [1] },
      skewed: { [person % 4 === 0 ? 'on' : 'off']: [1] },
    };
    return send('/api/frontend/telemetry', { k: frontend, e: 'Production', u: `person-${person}`, f });
  });
  expect(new Set(await Promise.all(packets))).toEqual(new Set([202]));
}

async function send(path: string, body: unknown): Promise<number> {
  return postJson(`http://${service.http}${path}`, body, { origin: 'https://shop.example' });
}

/** Returns the time `days` days after the end of the counts. */
const at = (days: number) => new Date(midnight + (days + 1) * dayMs).toISOString();

const plan = {
  feature: 'checkout',
  name: 'One page',
  environment: 'Production',
  base: 'off',
  metric: 'used',
  split: { on: 1, off: 1 },
};

const make = (more: object) => ask('POST', '/experiments', 201, { ...plan, ...more }) as Promise<Experiment>;
const readResult = ({ id }: Experiment) => ask('GET', `/experiments/${id}/result`, 200) as Promise<ExperimentResult>;

describe('an experiment', () => {
  it('a running experiment has intervals and progress, but no outcome', async () => {
    const made = await make({
      startAt: at(-14),
      endAt: at(7),
      guardrails: [{ metric: 'orders', direction: 'up', tolerated: 0.1 }],
    });
    expect(made).toMatchObject({
      state: 'running',
      progress: { day: 15, days: 21, text: 'day 15 of 21' },
      verdict: null,
    });
    const result = await readResult(made);
    expect(result).toMatchObject({
      frozen: false,
      outcome: 'open',
      text: 'day 15 of 21',
      method: 'always_valid',
      days: 14,
    });
    expect(JSON.stringify(result)).not.toMatch(/better|winner/i);
    const [off, on] = result.variants;
    expect(off).toMatchObject({ variant: 'off', difference: null });
    expect(on!.difference!.interval[0]).toBeLessThan(0.35);
    expect(result.guardrails[0]).toMatchObject({ metric: 'orders', state: 'ok' });
    expect(result.daily.find(({ variant }) => variant === 'on')!.values).toHaveLength(14);
  });

  it('an experiment shows its progress towards a planned number of users', async () => {
    const made = await make({ startAt: at(-14), users: 4000 });
    const [listed] = ((await ask('GET', '/experiments?state=running', 200)) as { items: Experiment[] }).items.filter(
      ({ id }) => id === made.id,
    );
    expect(listed!.progress).toMatchObject({ users: 300, days: null });
    expect(listed!.progress.text).toBe('day 15, 7% of 4,000 users per variant');
  });

  it('the plan of an experiment can be changed until the experiment starts', async () => {
    const running = await make({ startAt: at(-3), endAt: at(7) });
    expect(await ask('PATCH', `/experiments/${running.id}`, 409, { endAt: at(8) })).toMatchObject({ code: 'conflict' });
    expect(await ask('PATCH', `/experiments/${running.id}`, 200, { name: 'B' })).toMatchObject({ name: 'B' });
    const planned = await make({ startAt: at(3), endAt: at(17) });
    expect(planned).toMatchObject({ state: 'planned', progress: { day: 0 } });
    expect(await ask('PATCH', `/experiments/${planned.id}`, 200, { endAt: at(24) })).toMatchObject({ endAt: at(24) });
    expect(await ask('PATCH', `/experiments/${planned.id}`, 409, { stop: 'Never mind' })).toMatchObject({
      code: 'conflict',
    });
    await ask('DELETE', `/experiments/${planned.id}`, 204);
    expect(await ask('GET', `/experiments/${planned.id}`, 404)).toMatchObject({ code: 'not_found' });
  });

  it('an experiment that is stopped early keeps its result and shows the reason', async () => {
    const made = await make({ startAt: at(-10), endAt: at(4), metric: 'orders' });
    const stopped = (await ask('PATCH', `/experiments/${made.id}`, 200, { stop: 'Too many errors' })) as Experiment;
    expect(stopped).toMatchObject({ state: 'stopped', stopped: 'Too many errors' });
    const result = await readResult(made);
    expect(result).toMatchObject({ frozen: true, method: 'always_valid', outcome: expect.not.stringMatching('open') });
    await ask('PATCH', `/experiments/${made.id}`, 409, { stop: 'Again' });
  });

  it('a refused change does not stop an experiment, and a refused stop does not change the plan', async () => {
    const running = await make({ startAt: at(-10), endAt: at(4) });
    const path = `/experiments/${running.id}`;
    expect(await ask('PATCH', path, 409, { stop: 'Errors', endAt: at(9) })).toMatchObject({ code: 'conflict' });
    expect(await ask('GET', path, 200)).toMatchObject({ state: 'running', stopped: null });
    expect(await ask('PATCH', path, 200, { stop: 'Errors', name: 'C' })).toMatchObject({ state: 'stopped', name: 'C' });
    expect(await ask('PATCH', path, 409, { stop: 'Again', name: 'D' })).toMatchObject({ code: 'conflict' });
    expect(await ask('GET', path, 200)).toMatchObject({ name: 'C' });
  });

  it.each<[string, object, string]>([
    ['without an end', {}, 'invalid_body'],
    ['if it takes six days', { startAt: at(0), endAt: at(6) }, 'invalid_time'],
    ['on an undeclared metric', { users: 100, metric: 'clicks' }, 'invalid_body'],
    ['if its base is not in the split', { users: 100, base: 'beta' }, 'invalid_body'],
    ['if it starts in year 1', { users: 100, startAt: '0001-01-01T00:00:00Z' }, 'invalid_time'],
    ['if it started more than a year ago', { users: 100, startAt: at(-368) }, 'invalid_time'],
    ['if it starts in more than a year', { users: 100, startAt: at(368) }, 'invalid_time'],
    ['with an unreadable start', { users: 100, startAt: 'soon' }, 'invalid_time'],
  ])('an experiment is refused %s', async (_, more, code) => {
    expect(await ask('POST', '/experiments', 400, { ...plan, ...more })).toMatchObject({ code });
  });

  it('the estimated duration of an experiment is based on the traffic', async () => {
    const power = (await ask('GET', '/features/checkout/power?environment=Production', 200)) as Power;
    expect(power.rate).toBeCloseTo(0.37, 1);
    expect(power.points[0]![0]).toBe(7);
    expect(power.text).toMatch(/^A difference of [\d.]+ percentage points is (not )?detectable /);
    expect(await ask('GET', '/features/none/power?environment=Production', 200)).toMatchObject({ points: [] });
  });
});
