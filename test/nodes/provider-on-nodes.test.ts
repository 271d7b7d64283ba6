import { afterAll, beforeAll, expect, vi } from 'vitest';
import { clientId, clientSecret, type OwnProvider, startOwnProvider } from '../auth/sso/own-provider.ts';
import { type Binary, type Credentials, manage, startBinary, stop, token } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { opened } from '../support/opened.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';

const { test } = needing('postgresql');

const often = { interval: 100 };
const authUrl = 'http://auth.example';

const database = opened(() => Postgres.start());
let provider: OwnProvider;
let credentials: Credentials;
let one: Binary;
let two: Binary;

beforeAll(async () => {
  provider = await startOwnProvider(Date.now);
  const postgresUrl = await database.database();
  credentials = await preparePostgres(postgresUrl);
  const args = ['--postgres', postgresUrl, '--auth-url', authUrl, '--issuer-allow-private'];
  const start = (name: string) => startBinary({ args: [...args, '--node-name', name] });
  [one, two] = await Promise.all([start('one'), start('two')]);
});
afterAll(async () => {
  for (const each of [one, two]) if (each !== undefined) await stop(each, 'SIGKILL');
  await provider?.close();
});

/** Sends a request of a browser to a node. @returns the response, and the cookies that it sets */
async function send(node: Binary, address: string, cookie = '') {
  const { pathname, search } = new URL(address, authUrl);
  const response = await fetch(`http://${node.http}${pathname}${search}`, { headers: { cookie }, redirect: 'manual' });
  const set = response.headers.getSetCookie().filter((line) => !line.includes('Max-Age=0'));
  return {
    answer: response,
    location: response.headers.get('location') ?? '',
    cookie: set.map((line) => line.split(';')[0]).join('; '),
  };
}

test('a sign-in with a provider starts at one node, returns to another, and is valid at both', async () => {
  const wanted = { name: 'Corp', issuer: provider.issuer, clientId, clientSecret, createUsers: true };
  const bearer = await token(one.http, credentials);
  const body = { ...wanted, defaultTeam: credentials.teamId };
  const path = '/api/v2/identity-providers';
  const { id } = (await manage(one.http, bearer, 'POST', path, 201, body)) as { id: string };
  const page = `/connect/providers/${id}/start?page=authenticator&query=`;
  await vi.waitFor(async () => expect((await send(two, page)).answer.status).toBe(303), often);

  const started = await send(one, page);
  const asked = await fetch(started.location, { redirect: 'manual' });
  const callback = asked.headers.get('location')!;
  expect(callback).toMatch(`${authUrl}/connect/providers/${id}/callback?`);
  const returned = await send(two, callback, started.cookie);
  expect(returned.answer.status).toBe(303);
  for (const node of [two, one])
    await vi.waitFor(async () => {
      const { answer } = await send(node, '/connect/authenticator', returned.cookie);
      expect(await answer.text()).toContain('<h1>Set up two-step verification');
    }, often);
});
