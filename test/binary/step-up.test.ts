import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Binary, freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { addOldSessions } from '../support/old-session.ts';
import { runBinary } from '../support/run-binary.ts';

let service: Binary;
let refreshToken: string;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  await prepare(data);
  refreshToken = (await addOldSessions(data)).refreshToken;
  service = await startBinary({ data });
});
afterAll(async () => {
  if (service) await stop(service);
});

test('a dangerous change after an old sign-in requires a new sign-in, even with a refreshed token', async () => {
  const url = `http://${service.http}`;
  const form = { grant_type: 'refresh_token', client_id: 'flagmeter-cli', refresh_token: refreshToken };
  const tokens = await fetch(`${url}/connect/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: access } = (await tokens.json()) as { access_token: string };
  const env = { PATH: process.env['PATH'] ?? '', FLAGMETER_URL: url, FLAGMETER_TOKEN: access };
  expect(await runBinary(['users', 'list'], env)).toMatchObject({ code: 0 });
  expect(await runBinary(['api-keys', 'create', 'CI'], env)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(
      `Your sign-in is too old for this change; sign in with: flagmeter login --url ${url}`,
    ),
  });
  const body = JSON.stringify({ name: 'CI' });
  const headers = { authorization: `Bearer ${access}` };
  const { id } = (await (await fetch(`${url}/api/v2/users/me`, { headers })).json()) as { id: string };
  const refused = await fetch(`${url}/api/v2/users/${id}`, { method: 'DELETE', headers });
  expect(refused.headers.get('www-authenticate')).toBe(
    'Bearer error="insufficient_user_authentication", max_age="900"',
  );
  const harmless = await fetch(`${url}/api/v2/users/${id}`, { method: 'PATCH', headers, body });
  expect(harmless.status).toBe(200);
});
