import { createKey, manage } from '../test/support/binary.ts';
import { besideFloor, type Comparison } from './beside-floor.ts';
import { type Service, sendRequests } from './service.ts';

/**
 * Number of users for whom ids are minted, one user after the other. When all users have ids, minting replaces these
 * ids.
 */
const users = 20_000;

/** Compares the durable minting of ids with the bare HTTP engine, driven with the same requests. */
export const identities: Comparison<never> = {
  summary: 'durably minted instance ids per second, compared with the bare HTTP engine (the floor)',
  unit: 'mint',
  defaults: { connections: 256, seconds: 10, rounds: 3 },
  small: { connections: 8, seconds: 0.1, rounds: 1 },
  floors: { floor: ['floor.ts'] },
  async begin(service, { connections, seconds }) {
    const { key } = await createKey(service.http, service.accessToken, service.applicationId, 'Backend');
    const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5) };
    return {
      drive(floor, open) {
        const http = floor ?? service.http;
        const requests = Array.from({ length: users }, (_, user) => requestText(http, key, user));
        return sendRequests(http, requests, { ...plan, ...open, status: floor === undefined ? 200 : 202 });
      },
      verify: () => verifyMint(service, key),
      summarize: () => ({ remarks: [`${users} users`] }),
    };
  },
};

export const mint = besideFloor(identities);

/** Returns the request that an application's server sends when a user signs in. */
function requestText(http: string, key: string, user: number): string {
  const body = JSON.stringify({
    identity: `user-${user}@example.com`,
    groups: ['beta', 'staff'],
    claims: { plan: 'pro', seats: user % 50, trial: false },
  });
  return [
    'POST /api/frontend/identities HTTP/1.1',
    `Host: ${http}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** Checks that minted ids are valid. @throws {Error} if a packet with a new id is not assigned to its user */
async function verifyMint(service: Service, backendKey: string): Promise<void> {
  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const response = await fetch(`http://${service.http}/api/frontend/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return response.status === 200 ? ((await response.json()) as { instanceId: string }) : undefined;
  };
  const identity = 'user-1@example.com';
  const minted = await post('identities', { authorization: backendKey }, { identity });
  const packet = { k: service.key, e: 'Production', f: { checkout: { on: [1] } }, i: minted?.instanceId };
  await post('telemetry', { origin: 'https://shop.example.com' }, packet);
  const path = `/api/v2/applications/${service.applicationId}/identities/${identity}/exposures?environment=Production`;
  const { exposures } = (await manage(service.http, service.accessToken, 'GET', path, 200)) as { exposures: unknown[] };
  if (exposures.length !== 1) throw new Error('a packet with a minted id was not attributed');
}
