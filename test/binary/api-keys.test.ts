import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openIssuer } from '../auth/support/issuer.ts';
import { type Binary, type Credentials, freshDirectory, prepare, startBinary, stop, token } from '../support/binary.ts';
import { runBinary } from '../support/run-binary.ts';

let service: Binary;
let credentials: Credentials;
let access: string;

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  credentials = await prepare(data);
  service = await startBinary({ data, args: ['--issuer-allow-private'] });
  access = await token(service.http, credentials);
});
afterAll(async () => {
  if (service) await stop(service);
});

/** Runs a client command with additional variables. @returns its parsed JSON output */
async function run(env: Record<string, string>, ...args: string[]): Promise<Record<string, unknown>> {
  const home = freshDirectory();
  const variables = { PATH: process.env['PATH'] ?? '', HOME: home, FLAGMETER_URL: `http://${service.http}`, ...env };
  const { code, stdout, stderr } = await runBinary([...args, '--json'], variables);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('a CI job authenticates as an API key with the token of its platform', async () => {
  const issuer = await openIssuer();
  const folder = freshDirectory();
  const trust = {
    issuer: issuer.url,
    audience: 'https://flags.example',
    subject: 'repo:shop/checkout:ref:refs/heads/*',
  };
  writeFileSync(`${folder}/trust.json`, JSON.stringify(trust));
  const create = ['api-keys', 'create', 'Job', '--scope', 'read', '--expires', '90d'];
  const made = await run({ FLAGMETER_TOKEN: access }, ...create, '--trust-file', `${folder}/trust.json`);
  expect(made).toMatchObject({ credential: 'trust', scopes: ['read'], trust });
  expect(made).not.toHaveProperty('clientSecret');
  const sub = 'repo:shop/checkout:ref:refs/heads/main';
  const exp = Math.floor(Date.now() / 1000) + 300;
  writeFileSync(`${folder}/token`, await issuer.sign({ iss: issuer.url, aud: trust.audience, sub, exp }));
  const job = { FLAGMETER_CLIENT_ID: String(made['clientId']), FLAGMETER_WORKLOAD_TOKEN_FILE: `${folder}/token` };
  expect(await run(job, 'whoami')).toMatchObject({ name: 'Job', role: 'Viewer' });
  const listed = await run({ FLAGMETER_TOKEN: access }, 'api-keys', 'list');
  expect(listed['items']).toContainEqual(expect.objectContaining({ name: 'Job', lastSubject: sub }));
});

test('a program signs client assertions with its own key, and each assertion is accepted only once', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const file = `${freshDirectory()}/key.json`;
  writeFileSync(file, JSON.stringify(publicKey.export({ format: 'jwk' })));
  const made = await run({ FLAGMETER_TOKEN: access }, 'api-keys', 'create', 'Server', '--public-key-file', file);
  const id = String(made['clientId']);
  const issuer = `http://${service.http}`;
  const assertion = await new SignJWT({ iss: id, sub: id, aud: issuer, jti: 'once' })
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime('60 s')
    .sign(privateKey);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'openid flagmeter',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  });
  const ask = async () => (await fetch(`${issuer}/connect/token`, { method: 'POST', body })).status;
  expect([await ask(), await ask()]).toEqual([200, 401]);
});
