import { expect, onTestFinished, test } from 'vitest';
import { testClock } from '../accounts/fixture.ts';
import { createApplication, createKey, manage, postJson, token } from '../support/binary.ts';
import { openTransports } from '../support/report-transports.ts';
import { type LocalService, startLocal } from '../support/service.ts';

interface SenderPage {
  readonly items: readonly object[];
  readonly othersLeftOut: boolean;
}

const start = Date.UTC(2026, 0, 2, 3, 4, 5);
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36';

/** Starts a service with a stopped clock and an application. */
async function open() {
  const clock = testClock(start);
  let service: LocalService = await startLocal({ clock });
  onTestFinished(() => service.stop());
  const access = await token(service.http, service.credentials);
  const id = await createApplication(service.http, access, { name: 'shop' });
  const addKey = async (type: 'Mobile' | 'Backend') => (await createKey(service.http, access, id, type)).key;
  const keys = { Mobile: await addKey('Mobile'), Backend: await addKey('Backend') };
  const api = async (method: string, path: string, status: number) =>
    manage(
      service.http,
      await token(service.http, service.credentials),
      method,
      `/api/v2/applications/${id}${path}`,
      status,
    );
  return {
    clock,
    keys,
    api,
    transports: (headers: Record<string, string>) => {
      const opened = openTransports(service, headers);
      onTestFinished(() => opened.forEach((each) => void each.close()));
      return opened;
    },
    send: async (userAgent: string, feature: string, environment = 'Production') => {
      expect(
        await postJson(
          `http://${service.http}/api/frontend/telemetry`,
          { k: keys.Mobile, e: environment, f: { [feature]: { on: [1] } } },
          { 'user-agent': userAgent },
        ),
      ).toBe(202);
    },
    senders: async (feature: string, query = '') =>
      (await api('GET', `/features/${feature}/senders${query}`, 200)) as SenderPage,
    async restart() {
      const { data, credentials } = service;
      await service.stop();
      service = await startLocal({ data, credentials, clock });
    },
  };
}

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 2, 3, minutes)).toISOString();

test('senders of packets and reports over every transport are listed with version and times', async () => {
  const { clock, keys, send, senders, transports } = await open();
  await send(chrome, 'checkout');
  clock.advance(600_000);
  const report = { appKey: keys.Backend, environment: 'Production', time: new Date(clock.now()).toISOString() };
  const stats = [{ feature: 'checkout', variantStats: { on: { checkCount: 1 } } }];
  for (const transport of transports({ ua: 'api/1.0' })) {
    await transport.usage({ ...report, appVersion: '2.3.0', stats });
  }
  const values = [{ metric: 'sales', feature: 'checkout', value: 1 }];
  for (const transport of transports({ ua: 'worker/1.9' })) await transport.metrics({ ...report, stats: values });
  clock.advance(600_000);
  await send('okhttp/4.12.0', 'checkout', 'Staging');
  await send(chrome, 'search');

  const { items, othersLeftOut } = await senders('checkout');
  expect(othersLeftOut).toBe(false);
  const api = { environment: 'Production', name: 'api', version: '2.3.0', route: 'usage' };
  const worker = { environment: 'Production', name: 'worker', version: '1.9', route: 'metrics' };
  const times = (first: number, last = first) => ({ firstAt: at(first), lastAt: at(last) });
  expect(items[0]).toEqual({
    environment: 'Staging',
    name: 'okhttp',
    version: '4',
    transport: 'http',
    route: 'telemetry',
    ...times(20),
  });
  expect(items.slice(1, -1)).toEqual([
    ...['http', 'grpc', 'grpc-web'].map((transport) => ({ ...api, transport, ...times(10) })),
    ...['http', 'grpc', 'grpc-web'].map((transport) => ({ ...worker, transport, ...times(10) })),
  ]);
  expect(items.at(-1)).toEqual({
    environment: 'Production',
    name: 'Chrome',
    version: '131',
    transport: 'http',
    route: 'telemetry',
    ...times(0),
  });
  expect((await senders('checkout', '?environment=Staging')).items).toHaveLength(1);
  expect((await senders('search')).items).toMatchObject([{ name: 'Chrome', firstAt: at(20) }]);
});

test('a sender is listed once after a restart, and removed after ninety days', async () => {
  const { clock, send, senders, restart } = await open();
  await send('app/1.0', 'checkout');
  await restart();
  await send('app/1.5', 'checkout');
  clock.advance(600_000);
  await send('app/1.5', 'checkout');
  expect((await senders('checkout')).items).toMatchObject([
    { name: 'app', version: '1', firstAt: at(0), lastAt: at(10) },
  ]);
  clock.advance(91 * 86_400_000);
  expect((await senders('checkout')).items).toEqual([]);
});

test('senders over the limit are merged into one sender, and the response reports the merge', async () => {
  const { send, senders } = await open();
  for (let each = 0; each < 27; each += 1) await send(`app${each}/1`, 'checkout');
  const { items, othersLeftOut } = await senders('checkout');
  expect([items.length, othersLeftOut]).toEqual([26, true]);
  expect(items).toContainEqual(expect.objectContaining({ name: '__other__', version: null }));
});

test('senders are deleted with their environment, and an unknown feature has no senders', async () => {
  const { api, send, senders } = await open();
  await send('app/1', 'checkout', 'Staging');
  await api('DELETE', '/environments/Staging', 204);
  expect(await api('GET', '/features/checkout/senders', 404)).toMatchObject({ code: 'not_found' });
  expect(await api('GET', '/features/checkout/senders?environment=Staging', 404)).toMatchObject({
    code: 'unknown_environment',
  });
  await send('app/1', 'checkout');
  expect((await senders('checkout')).items).toMatchObject([{ environment: 'Production' }]);
});
