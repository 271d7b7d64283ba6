import { expect, test } from 'vitest';
import { type Binary, freshDirectory, prepare, startBinary, stop, token } from '../support/binary.ts';

const ownListeners = ['--auth-listen', '127.0.0.1:0', '--api-listen', '127.0.0.1:0'];
/** URLs without the ports. A token contains them, and must survive a restart on other ports. */
const urls = ['--auth-url', 'https://auth.example', '--base-url', 'https://api.example'];

/** Returns HOST:PORT of the listener of a host, from the ready line. */
function findListener({ line }: Binary, host: 'auth' | 'api'): string {
  return new RegExp(`\\b${host}=(\\S+)`).exec(line)?.[1] ?? '';
}

function invalidate(http: string, accessToken: string): Promise<Response> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return fetch(`http://${http}/api/account/invalidate-token`, { method: 'POST', headers });
}

/** Returns the status of a request with the token at each listener that accepts tokens. */
async function statuses(service: Binary, accessToken: string): Promise<Record<string, number>> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const api = await fetch(`http://${findListener(service, 'api')}/api/v2/applications`, { headers });
  const auth = await fetch(`http://${findListener(service, 'auth')}/connect/userinfo`, { headers });
  return { api: api.status, auth: auth.status };
}

/** Statuses for a valid client token. The userinfo endpoint forbids it, because it has no user. */
const good = { api: 200, auth: 403 };
const refused = { api: 401, auth: 401 };

test('every listener refuses an invalidated token from the next request on, even after a SIGKILL', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  let service = await startBinary({ data, args: [...ownListeners, ...urls] });
  const auth = findListener(service, 'auth');
  const first = await token(auth, credentials);
  const second = await token(auth, credentials);
  const other = await token(auth, credentials);
  for (const text of [first, second, other]) expect(await statuses(service, text)).toEqual(good);

  const response = await invalidate(findListener(service, 'api'), first);
  expect([response.status, await response.json()]).toEqual([200, { message: expect.any(String) }]);
  expect(await statuses(service, first)).toEqual(refused);

  expect((await invalidate(findListener(service, 'api'), second)).status).toBe(200);
  service.kill('SIGKILL');
  await service.exit;
  service = await startBinary({ data, args: [...ownListeners, ...urls] });
  for (const text of [first, second]) expect(await statuses(service, text)).toEqual(refused);
  expect(await statuses(service, other)).toEqual(good);
  await stop(service);
});
