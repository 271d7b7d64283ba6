import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { decodeProtectedHeader } from 'jose';
import { expect, it } from 'vitest';
import {
  type Binary,
  binaryPath,
  type Credentials,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';

const run = promisify(execFile);

async function rotate(data: string): Promise<{ kid: string; alg: string; retired: string[] }> {
  const { stdout } = await run(binaryPath, ['signing-keys', 'rotate', '--data', data, '--json'], { env: {} });
  return JSON.parse(stdout);
}

async function publishedKids({ http }: Binary): Promise<string[]> {
  const { keys } = (await (await fetch(`http://${http}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
}

async function untilPublished(service: Binary, kid: string): Promise<void> {
  const published = async () => (await publishedKids(service))[0];
  await expect.poll(published, { interval: 100, message: service.stderr() }).toBe(kid);
}

const readKid = (accessToken: string) => decodeProtectedHeader(accessToken).kid;

async function isGood({ http }: Binary, accessToken: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await fetch(`http://${http}/api/v2/applications`, { headers })).status === 200;
}

async function auditedKids({ http }: Binary, credentials: Credentials): Promise<string[]> {
  const { items } = (await manage(http, await token(http, credentials), 'GET', '/api/v2/audit', 200)) as {
    items: { action: string; target: { id: string } }[];
  };
  return items.filter(({ action }) => action === 'signing-key.rotated').map(({ target }) => target.id);
}

it('rotating the signing key of a running service keeps every token valid', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  let service = await startBinary({ data });
  const before = await token(service.http, credentials);
  const { kid, alg, retired } = await rotate(data);
  expect({ alg, retired }).toEqual({ alg: 'ES256', retired: [readKid(before)] });
  await untilPublished(service, kid);
  // The service signs with the new key after caches have had time to load it.
  const after = await token(service.http, credentials);
  expect(readKid(after)).toBe(readKid(before));
  for (const one of [before, after]) expect(await isGood(service, one)).toBe(true);
  // The rotation is written to disk by the command, so a crash of the service right after it loses nothing.
  const { http } = service;
  const last = await rotate(data);
  await stop(service, 'SIGKILL');
  service = await startBinary({ data, args: ['--auth-url', `http://${http}`, '--base-url', `http://${http}`] });
  expect(await publishedKids(service)).toEqual([last.kid, kid, readKid(before)]);
  for (const one of [before, after]) expect(await isGood(service, one)).toBe(true);
  expect(await auditedKids(service, credentials)).toEqual([last.kid, kid]);
  await stop(service);
});

it.each(['RS256', 'EdDSA'])(
  'the service creates a key for --signing-alg %s, and tokens of the previous key stay valid',
  async (alg) => {
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    let service = await startBinary({ data });
    const { http } = service;
    const before = await token(http, credentials);
    await stop(service);
    const urls = ['--auth-url', `http://${http}`, '--base-url', `http://${http}`];
    service = await startBinary({ data, args: [...urls, '--signing-alg', alg] });
    expect(service.stderr()).toContain('created a signing key for --signing-alg');
    const after = await token(service.http, credentials);
    expect(decodeProtectedHeader(after)).toMatchObject({ alg, typ: 'at+jwt' });
    for (const one of [before, after]) expect(await isGood(service, one)).toBe(true);
    await stop(service);
  },
);
