import { createApplication, createKey, token } from '../support/binary.ts';
import { readLedger } from '../support/ledger-report.ts';
import { type LocalOptions, type LocalService, startLocal } from '../support/service.ts';
import { readChecks } from '../support/shop.ts';

export const minute = 60_000;

export interface Shop {
  readonly access: string;
  readonly application: string;
  readonly key: string;
}

export async function openShop(
  service: Pick<LocalService, 'http' | 'credentials'>,
  fields: object = {},
): Promise<Shop> {
  const access = await token(service.http, service.credentials);
  const application = await createApplication(service.http, access, { name: 'shop', rate: 0, ...fields });
  const { key } = await createKey(service.http, access, application, 'Mobile');
  return { access, application, key };
}

export async function post(service: LocalService, path: string, body: string, key?: string): Promise<number> {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) };
  const response = await fetch(`http://${service.http}${path}`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** A time with microseconds. */
export const time = new Date().toISOString().replace(/\.\d+/, '.125250');
export const inMs = time.replace('250Z', 'Z');

/** Creates a report with one check, as JSON, with distinct content. */
export function report(shop: Shop, more: object = {}): string {
  const stats = [{ feature: 'checkout', enabledCount: 1 }];
  return JSON.stringify({
    appKey: shop.key,
    environment: 'Production',
    time,
    instanceName: 'web',
    processStartTime: '2026-01-31T12:00:00Z',
    stats,
    ...more,
  });
}

export const packet = (shop: Shop) =>
  JSON.stringify({ k: shop.key, e: 'Production', f: { checkout: { enabled: [1] } } });

export async function checks(service: LocalService, { application }: Shop): Promise<number | undefined> {
  return (await readChecks(service.http, { ...service, application })).get('checkout');
}

/** Returns the number of ledger notes by code. */
export async function notes(service: LocalService, { access, application }: Shop): Promise<Record<string, number>> {
  const { entries } = await readLedger(service.http, access, application);
  const noted = entries.filter(({ outcome }) => outcome === 'noted');
  return Object.fromEntries(noted.map(({ code, count }) => [code, count]));
}

export async function withService(run: (service: LocalService) => Promise<void>, options: LocalOptions = {}) {
  const service = await startLocal(options);
  await run(service);
  await service.stop();
}
