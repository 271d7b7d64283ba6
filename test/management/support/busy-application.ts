import { ask } from './targets.ts';
import type { World } from './world.ts';

/** Creates an application with data in every report, and a leaked key. @returns its path */
export async function busyApplication(world: World): Promise<string> {
  const body = { name: 'Shop', acceptClientIdentities: true, allowedOrigins: ['https://shop.example'] };
  const { id } = (await ask(world, 'POST', '/api/v2/applications', body)) as { id: string };
  const path = `/api/v2/applications/${id}`;
  const addKey = async (type: string) => ((await ask(world, 'POST', `${path}/keys`, { type })) as { key: string }).key;
  const mobile = await addKey('Mobile');
  const backend = await addKey('Backend');
  const post = async (route: string, body: object, status: number, headers = {}) => {
    const json = { 'content-type': 'application/json', 'user-agent': 'test', ...headers };
    const response = await world.send(undefined, 'POST', route, body, json);
    if (response.status !== status) throw new Error(`${route} answered ${response.status}: ${await response.text()}`);
  };
  const packet = { k: mobile, e: 'Production', f: { checkout: { on: [3, 2, 1] } }, m: { purchases: 2 }, u: 'user-7' };
  await post('/api/frontend/telemetry', packet, 202);
  await post('/api/frontend/telemetry', { ...packet, k: backend }, 404);
  await post('/api/frontend/telemetry', { ...packet, e: 'Nowhere' }, 404);
  await post('/api/frontend/telemetry', packet, 403, { origin: 'https://shop.test' });
  const value = { metric: 'purchases', feature: 'checkout', variantValues: { on: 2 } };
  const time = new Date().toISOString();
  const report = { appKey: backend, environment: 'Production', time, instanceName: 'web-1', stats: [value] };
  const named = { 'idempotency-key': 'once' };
  await post('/api/metrics', report, 200, named);
  await post('/api/metrics', report, 200, named); // Adds a note about a repetition.
  await post('/api/frontend/identities', { identity: 'user-7' }, 200, { authorization: backend });
  return path;
}
