import { onTestFinished } from 'vitest';
import { manage, token, usage } from '../../support/binary.ts';
import { readLedger } from '../../support/ledger-report.ts';
import { type LocalService, startLocal } from '../../support/service.ts';
import { openShop, type Shop } from '../repeated-reports.ts';

const secret = 'f'.repeat(56);
export const backend = `default:production.${secret}`;
export const frontend = `*:production.frontend-${secret}`;

export async function openUnleash(more: Parameters<typeof startLocal>[0] = {}) {
  const service = await startLocal(more);
  return { service, shop: await openTokens(service) };
}

async function openTokens(service: LocalService): Promise<Shop> {
  const shop = await openShop(service);
  await adopt(service, shop, { token: backend, type: 'Backend', environment: 'Production' });
  await adopt(service, shop, { token: frontend, type: 'Frontend', environment: 'Production' });
  return shop;
}

/** Opens a shop for one test. The shop is deleted when the test ends, so that the next test can adopt the tokens. */
export async function openTestShop(service: LocalService): Promise<Shop> {
  const shop = await openTokens(service);
  const path = `/api/v2/applications/${shop.application}`;
  onTestFinished(async () => void (await manage(service.http, shop.access, 'DELETE', path, 204)));
  return shop;
}

export const adopt = (service: LocalService, { access, application }: Shop, body: object) =>
  manage(service.http, access, 'POST', `/api/v2/applications/${application}/keys/adopt`, 201, body);

export async function post(service: LocalService, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`http://${service.http}/api${path}`, {
    method: 'POST',
    headers: { authorization: backend, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}

export const at = (seconds: number) =>
  new Date(Math.floor(Date.now() / 60_000) * 60_000 + seconds * 1000).toISOString();

/** Creates a message as the Node SDK sends it. */
export const message = (
  toggles: object,
  { start = at(-60), ...more }: { start?: string; [field: string]: unknown } = {},
) => ({
  appName: 'billing',
  instanceId: 'billing-1',
  connectionId: 'c-1',
  platformName: 'node',
  platformVersion: '22.1.0',
  bucket: { start, stop: at(0), toggles },
  ...more,
});

/** Returns the checks of each flag, by variant. */
export async function checks(service: LocalService, { application }: Shop, environment = 'Production') {
  const access = await token(service.http, service.credentials);
  const [from, to] = [-86_400_000, 3_600_000].map((ms) => new Date(Date.now() + ms)) as [Date, Date];
  const { features } = await usage(service.http, access, application, { environment, step: 'hour', from, to });
  return Object.fromEntries(
    features.map(({ feature, variants }) => [
      feature,
      Object.fromEntries(variants.map(({ variant, checks }) => [variant, checks])),
    ]),
  );
}

export const ledger = async (service: LocalService, { access, application }: Shop) =>
  (await readLedger(service.http, access, application)).entries;

export const notesIn = (entries: Awaited<ReturnType<typeof ledger>>) =>
  entries
    .filter(({ outcome }) => outcome === 'noted')
    .map(({ code }) => code)
    .sort();

/** Creates the header in which an SDK states its language. */
export const sdk = (language: string) => ({ 'unleash-sdk': `unleash-${language}-sdk:6.0.0` });
