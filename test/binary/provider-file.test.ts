import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CookieBrowser } from '../auth/sso/cookie-browser.ts';
import { clientId, clientSecret, type OwnProvider, startOwnProvider } from '../auth/sso/own-provider.ts';
import {
  type Binary,
  type Credentials,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';

let provider: OwnProvider;
let credentials: Credentials;
let service: Binary;
const directory = freshDirectory();
const file = join(directory, 'providers.json');

beforeAll(async () => {
  provider = await startOwnProvider(Date.now);
  const data = join(directory, 'data');
  credentials = await prepare(data);
  writeFileSync(join(directory, 'secret'), `${clientSecret}\n`);
  write('Corp');
  service = await startBinary({ data, args: ['--identity-providers', file, '--issuer-allow-private'] });
});
afterAll(async () => {
  if (service) await stop(service);
  await provider?.close();
});

/** Writes a provider file with one identity provider. */
function write(name: string, more: object = {}): void {
  const usual = { id: 'corp', issuer: provider.issuer, clientId, clientSecretFile: 'secret' };
  const users = { createUsers: true, defaultTeam: credentials.teamId };
  writeFileSync(file, JSON.stringify({ providers: [{ ...usual, ...users, name, ...more }] }));
}

async function call<T>(method: string, path: string, status: number, body?: unknown): Promise<T> {
  const bearer = await token(service.http, credentials);
  return (await manage(service.http, bearer, method, `/api/v2${path}`, status, body)) as T;
}

const names = async () => {
  const { items } = await call<{ items: { name: string }[] }>('GET', '/identity-providers', 200);
  return items.map(({ name }) => name);
};

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('an identity provider in the provider file signs users in', async () => {
  const url = `http://${service.http}/connect`;
  const start = `${url}/providers/corp/start?page=authenticator&query=`;
  const { response } = await new CookieBrowser().follow(start, () => false);
  expect(await response?.text()).toContain('<h1>Set up two-step verification');
  const { items } = await call<{ items: { email: string }[] }>('GET', '/users', 200);
  expect(items).toContainEqual(expect.objectContaining({ email: 'ada@corp.example' }));
  expect(service.stderr()).not.toContain(clientSecret);
});

test('an identity provider in the provider file is listed without its secret, and refuses changes', async () => {
  const { items } = await call<{ items: object[] }>('GET', '/identity-providers', 200);
  expect(items).toMatchObject([{ id: 'corp', source: 'file', hasClientSecret: true }]);
  expect(JSON.stringify(items)).not.toContain(clientSecret);
  for (const [method, body] of [
    ['PATCH', { enabled: false }],
    ['DELETE', undefined],
  ] as const) {
    const refused = await call(method, '/identity-providers/corp', 409, body);
    expect(refused).toMatchObject({ code: 'conflict', detail: expect.stringContaining(file) });
  }
});

test('a sign-in rule for a domain can refer to an identity provider in the provider file', async () => {
  const rules = [{ domain: 'corp.example', providerId: 'corp' }];
  expect(await call('PATCH', '/sign-in-policy', 200, { domains: rules })).toMatchObject({ domains: rules });
});

test('SIGHUP reloads the provider file, and an invalid file changes nothing', async () => {
  write('Renamed', { claimRules: [{ claim: 'groups', value: 'a', team: 'team_none', role: 'User' }] });
  service.kill('SIGHUP');
  await until(async () => (await names()).join() === 'Renamed');
  expect(service.stderr()).toContain('"teams":["team_none"]');
  write('Invalid', { isuer: 'https://login.example' });
  service.kill('SIGHUP');
  await until(() => service.stderr().includes('isuer is unknown; the nearest known one is issuer'));
  expect(await names()).toEqual(['Renamed']);
});
