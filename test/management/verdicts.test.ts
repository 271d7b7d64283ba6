import { expect, onTestFinished, test } from 'vitest';
import { testClock } from '../accounts/fixture.ts';
import { createApplication, createKey, manage, token } from '../support/binary.ts';
import { openTransports } from '../support/report-transports.ts';
import { startLocal } from '../support/service.ts';

const dayMs = 86_400_000;

interface ShownVerdict {
  readonly kind: string;
  readonly environments: readonly string[];
  readonly reasons: readonly { readonly text: string; readonly at: string | null }[];
}

/** Starts a service with a test clock, and an application with a server that sends reports. */
async function open() {
  const clock = testClock(Date.UTC(2026, 0, 2, 3, 4, 5));
  const service = await startLocal({ clock });
  onTestFinished(() => service.stop());
  const ask = async (method: string, path: string, status: number, body?: object) => {
    const access = await token(service.http, service.credentials);
    return manage(service.http, access, method, path, status, body);
  };
  const access = await token(service.http, service.credentials);
  const id = await createApplication(service.http, access, { name: 'shop' });
  const { key: appKey } = await createKey(service.http, access, id, 'Backend');
  const path = (feature: string) => `/api/v2/applications/${id}/features/${feature}`;
  return {
    clock,
    declare: (name: string) => ask('POST', `/api/v2/applications/${id}/features`, 201, { name }),
    cleanup: () => ask('GET', `/api/v2/applications/${id}/cleanup`, 200),
    change: (name: string, patch: object) => ask('PATCH', path(name), 200, patch),
    verdict: async (name: string) => (await ask('GET', `${path(name)}/verdict`, 200)) as ShownVerdict,
    refused: (name: string) => ask('GET', `${path(name)}/verdict`, 404),
    overview: async () =>
      (await ask('GET', `/api/v2/applications/${id}/overview?environment=Production`, 200)) as {
        readonly features: readonly { readonly feature: string; readonly verdict: string }[];
      },
    /** Sends a report with checks of features by variant. */
    async report(
      features: Readonly<Record<string, Readonly<Record<string, number>>>>,
      ua = 'web/2.3',
      environment = 'Production',
      time = clock.now(),
    ) {
      const [json] = openTransports(service, { ua });
      const stats = Object.entries(features).map(([feature, variants]) => ({
        feature,
        variantStats: Object.fromEntries(
          Object.entries(variants).map(([variant, checkCount]) => [variant, { checkCount }]),
        ),
      }));
      await json!.usage({ appKey, environment, time: new Date(time).toISOString(), stats });
    },
  };
}

test('the verdict on a feature is new, then in_use, then safe_to_remove once its senders report without it', async () => {
  const { clock, report, verdict } = await open();
  await report({ checkout: { on: 3, off: 1 } });
  expect(await verdict('checkout')).toMatchObject({
    kind: 'new',
    declared: false,
    actions: ['declare', 'copy', 'permanent', 'archive'],
    senders: [{ environment: 'Production', name: 'web', version: '2.3', route: 'usage' }],
  });
  clock.advance(8 * dayMs);
  const { reasons, ...inUse } = await verdict('checkout');
  expect(inUse).toMatchObject({ kind: 'in_use', environments: ['Production'] });
  expect(reasons.map(({ text }) => text)).toEqual([
    'Still in use: last seen at 2026-01-02T03:04:00.000Z.',
    '4 checks in the last 30 days: on 75% and off 25%.',
    '2 variants were served within 30 days: off and on.',
    'web 2.3 still checks it.',
    'It is not declared.',
  ]);
  clock.advance(23 * dayMs);
  await report({ search: { on: 1 } }, 'web/2.4');
  expect(await verdict('checkout')).toMatchObject({
    kind: 'safe_to_remove',
    basis: 'senders',
    since: '2026-01-02T03:04:00.000Z',
    environments: ['Production'],
    reasons: [
      { code: 'not_named', at: '2026-01-02T03:04:00.000Z' },
      { code: 'senders_report', text: 'web 2.3 used to check it, and still reports.', names: ['web 2.3'] },
      { text: 'During that time, 1 sender of this application kept reporting in Production: web 2.4.', at: null },
      { code: 'undeclared' },
    ],
  });
  await report({ checkout: { on: 1, off: 1 } });
  expect((await verdict('checkout')).kind).toBe('in_use');
});

test('the verdict is cannot_tell if no sender reports, or if a former sender of the feature does not report', async () => {
  const { clock, report, verdict } = await open();
  await report({ checkout: { on: 1 } }, 'batch/1.0');
  clock.advance(31 * dayMs);
  expect(await verdict('checkout')).toMatchObject({
    kind: 'cannot_tell',
    environments: ['Production'],
    reasons: [
      { text: 'Nothing has reported in Production since 2026-01-02T03:00:00.000Z.' },
      {},
      {},
      { code: 'undeclared' },
    ],
  });
  await report({}, 'web/2.3');
  expect(await verdict('checkout')).toMatchObject({
    kind: 'cannot_tell',
    reasons: [
      { text: expect.stringMatching(/^batch 1\.0 checked it in Production, last at /) },
      {},
      {},
      { code: 'undeclared' },
    ],
  });
});

test('the verdict is cannot_tell while a sender with a wrong clock reports the feature', async () => {
  const { clock, report, verdict } = await open();
  clock.advance(40 * dayMs);
  await report({ search: { on: 1 } });
  await report({ checkout: { on: 1 } }, 'kiosk/1.0', 'Production', Date.UTC(2021, 0, 1));
  const reasons = [{ code: 'named_late', names: ['kiosk 1.0'] }, {}, {}, { code: 'undeclared' }];
  expect(await verdict('checkout')).toMatchObject({ kind: 'cannot_tell', environments: ['Production'], reasons });
  clock.advance(31 * dayMs);
  await report({ search: { on: 1 } });
  await report({ search: { on: 1 } }, 'kiosk/1.0');
  expect(await verdict('checkout')).toMatchObject({ kind: 'safe_to_remove' });
});

test('the verdict one_variant lists its environments, unless the feature is snoozed, permanent or archived', async () => {
  const { clock, report, verdict, declare, change, overview } = await open();
  await declare('checkout');
  await report({ checkout: { on: 1, off: 1 } }, 'web/1', 'Staging');
  clock.advance(35 * dayMs);
  await report({ checkout: { on: 5 } });
  await report({ checkout: { on: 6 } }, 'web/1', 'Staging');
  clock.advance(10 * dayMs);
  expect(await verdict('checkout')).toMatchObject({
    kind: 'one_variant',
    since: '2026-01-02T03:04:00.000Z',
    environments: ['Production', 'Staging'],
    declared: true,
    actions: ['copy', 'snooze', 'permanent', 'archive'],
    reasons: [
      { text: 'Only the variant on has been served since 2026-01-02T03:04:00.000Z, in Production and Staging.' },
      { text: '11 checks in the last 30 days, in Production and Staging: all of them on.' },
      { text: 'web 2.3 and web 1 still check it.' },
    ],
  });
  const verdictsShown = async () => (await overview()).features.map((each) => each.verdict);
  expect(await verdictsShown()).toEqual(['one_variant']);
  await change('checkout', { permanent: true });
  expect(await verdictsShown()).toEqual(['permanent']);
  expect((await verdict('checkout')).kind).toBe('permanent');
  await change('checkout', { snoozedUntil: new Date(clock.now() + dayMs).toISOString() });
  expect(await verdict('checkout')).toMatchObject({ kind: 'snoozed', since: null });
  clock.advance(dayMs);
  await change('checkout', { archived: true });
  expect((await verdict('checkout')).kind).toBe('permanent');
  clock.advance(60_000);
  await report({ checkout: { on: 1 } });
  expect(await verdict('checkout')).toMatchObject({
    kind: 'archived_but_asked',
    environments: ['Production'],
    actions: ['copy', 'unarchive', 'snooze'],
  });
});

test('the verdict on an undeclared feature suggests the most similar declared name', async () => {
  const { declare, report, verdict, refused } = await open();
  await declare('checkout');
  await report({ chekcout: { on: 1 } });
  expect(await verdict('chekcout')).toMatchObject({
    declared: false,
    nearest: 'checkout',
    reasons: [{}, { code: 'undeclared', names: ['checkout'] }],
  });
  expect(await verdict('checkout')).toMatchObject({ declared: true, nearest: null, kind: 'new', senders: [] });
  expect(await refused('nothing')).toMatchObject({ code: 'not_found' });
});

test('the cleanup list names the sender that still checks an archived feature', async () => {
  const { clock, report, declare, change, cleanup } = await open();
  await declare('done');
  await change('done', { archived: true });
  clock.advance(dayMs);
  await report({ done: { on: 1, off: 1 } });
  expect(await cleanup()).toMatchObject({
    blocked: [
      {
        feature: 'done',
        verdict: 'archived_but_asked',
        why: { code: 'still_checked', text: 'web 2.3 still checks it.' },
      },
    ],
  });
});
