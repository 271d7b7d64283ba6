import { once } from 'node:events';
import { initialize, type Unleash } from 'unleash-client';
import { expect, test } from 'vitest';
import { openShop, type Shop } from '../ingest/repeated-reports.ts';
import { manage, token, usage } from '../support/binary.ts';
import { type LocalService, startLocal } from '../support/service.ts';
import { type Fault, Gateway } from './gateway.ts';

/** Unleash's published SDK for Node as the sender, with a network that loses requests and responses. */

const authorization = `default:production.${'f'.repeat(56)}`;

/** Opens a gateway to the service, which also serves the flags. @returns the gateway, with the URL of the SDK */
async function openGateway({ http }: LocalService, faults: Fault[]) {
  const gateway = await Gateway.open(http, {
    chooseFault: ({ url }) => (url?.endsWith('/metrics') ? faults.shift() : undefined),
    respondTo: ({ method }) => (method === 'GET' ? definitions : undefined),
  });
  return { gateway, url: `http://${gateway.http}/api` };
}

const flag = (name: string, enabled: boolean, variants: object[] = []) => ({
  name,
  enabled,
  variants,
  type: 'release',
  project: 'default',
  stale: false,
  impressionData: false,
  strategies: [{ name: 'default', parameters: {} }],
});

const definitions = {
  version: 2,
  features: [
    flag('checkout', true),
    flag('search', false),
    flag('theme', false),
    flag('banner', true, [{ name: 'blue', weight: 1000, weightType: 'fix', payload: { type: 'string', value: '' } }]),
  ],
};

async function adoptToken(service: LocalService): Promise<Shop> {
  const shop = await openShop(service);
  const path = `/api/v2/applications/${shop.application}/keys/adopt`;
  const body = { token: authorization, type: 'Backend', environment: 'Production' };
  await manage(service.http, shop.access, 'POST', path, 201, body);
  return shop;
}

function startSdk(url: string): Unleash {
  const sdk = initialize({
    url,
    appName: 'billing',
    customHeaders: { Authorization: authorization },
    metricsInterval: 20,
    refreshInterval: 0,
    skipInstanceCountWarning: true,
    bootstrap: { data: definitions.features as never },
  });
  sdk.on('warn', () => {});
  sdk.on('error', () => {});
  return sdk;
}

const fallback = { name: 'fallback', enabled: false };

/** Checks each flag once, and `checkout` twice. */
function check(sdk: Unleash): void {
  expect([sdk.isEnabled('checkout'), sdk.isEnabled('search'), sdk.getVariant('banner').name]).toEqual([
    true,
    false,
    'blue',
  ]);
  sdk.getVariant('checkout');
  for (const flag of ['theme', 'missing']) sdk.getVariant(flag, {}, fallback);
}

async function checks(service: LocalService, { application }: Shop) {
  const access = await token(service.http, service.credentials);
  const [from, to] = [-86_400_000, 3_600_000].map((ms) => new Date(Date.now() + ms)) as [Date, Date];
  const query = { environment: 'Production', step: 'hour', from, to } as const;
  const { features } = await usage(service.http, access, application, query);
  return Object.fromEntries(
    features.flatMap(({ feature, variants }) => variants.map((each) => [`${feature}/${each.variant}`, each.checks])),
  );
}

test.each<[string, Fault[]]>([
  ['no fault', []],
  ['a lost response', ['lose the answer']],
  ['an unreachable server', ['reset', 'reset']],
  ['503 and 429', [503, 429]],
  ['a token that is not adopted yet', [404]],
  ['lost responses between refusals', ['lose the answer', 503, 'lose the answer', 'reset', 'lose the answer']],
])("checks of Unleash's SDK for Node are counted once with %s", async (_, faults) => {
  const service = await startLocal();
  const shop = await adoptToken(service);
  const left = [...faults];
  const { url } = await openGateway(service, left);
  const sdk = startSdk(url);
  await once(sdk, 'ready');
  let checked = 0;
  // Checks flags between the reports, too, so that each bucket has more checks than the previous bucket.
  while (left.length > 0 || checked === 0) {
    check(sdk);
    checked += 1;
    await Promise.race([once(sdk, 'warn'), once(sdk, 'sent')]);
  }
  check(sdk);
  checked += 1;
  await once(sdk, 'sent');
  await sdk.destroyWithFlush();
  await expect
    .poll(() => checks(service, shop))
    .toEqual({
      'checkout/enabled': 2 * checked,
      'search/disabled': checked,
      'banner/blue': checked,
      'theme/fallback': checked,
      'missing/fallback': checked,
    });
  await service.stop();
});

test("checks of Unleash's SDK for Node are counted once across a restart of the server", async () => {
  const first = await startLocal();
  const shop = await adoptToken(first);
  const faults: Fault[] = ['lose the answer'];
  const { gateway, url } = await openGateway(first, faults);
  const sdk = startSdk(url);
  await once(sdk, 'ready');
  check(sdk);
  await once(sdk, 'warn');
  await first.stop();
  const service = await startLocal({ data: first.data, credentials: first.credentials });
  gateway.target = service.http;
  check(sdk);
  await once(sdk, 'sent');
  await sdk.destroyWithFlush();
  await expect.poll(() => checks(service, shop)).toMatchObject({ 'checkout/enabled': 4, 'banner/blue': 2 });
  await service.stop();
});
