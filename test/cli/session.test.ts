import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { openApi } from '../../src/cli/api.ts';
import { UsageError } from '../../src/cli/options.ts';
import { openAccess, resolveServerUrl } from '../../src/cli/session.ts';
import { login } from '../../src/cli/sign-in/commands.ts';
import { openTokenStore } from '../../src/cli/token-store.ts';
import { manage, token } from '../support/binary.ts';
import { type ContextOptions, type TestContext, testContext } from './fixture.ts';
import { runService } from './running-service.ts';
import { signInAt } from './sign-in.ts';

const running = runService();
const { clock } = running;

/** Signs in, and records later requests to the token endpoint in `grants`. */
async function signedIn(
  argv: readonly string[] = [],
  options: ContextOptions = {},
): Promise<TestContext & { grants: string[] }> {
  const openBrowser = (address: string) => void signInAt(address, running.service.credentials);
  const context = testContext({ clock, openBrowser, ...options });
  await login.run(['--url', running.url, ...argv], context);
  const grants: string[] = [];
  return {
    ...context,
    grants,
    fetch: (target, init) => {
      if (target.endsWith('/connect/token'))
        grants.push(String(new URLSearchParams(String(init.body)).get('grant_type')));
      return fetch(target, init);
    },
  };
}

/** Requests the caller's account with a new access object, as a separate process would do. */
async function whoAmI(context: TestContext): Promise<unknown> {
  return openApi(context, running.url, openAccess(context, running.url)).call('GET', ['users', 'me']);
}

describe('half of an API key in the environment', () => {
  const id = 'FLAGMETER_CLIENT_ID';
  const secret = 'FLAGMETER_CLIENT_SECRET';

  it.each([
    [id, secret],
    [secret, id],
  ])(
    '%s without the other half of an API key is an error, and commands do not use the last login instead',
    async (set, missing) => {
      const before = await signedIn();
      const context = { ...before, env: { ...before.env, [set]: 'x' } };
      expect(() => openAccess(context, running.url)).toThrow(
        new UsageError(`Cannot use ${set} without ${missing}: set both, or neither to use the last login`),
      );
    },
  );

  it('login with half an API key does not start a sign-in by browser', async () => {
    const context = testContext({ env: { [secret]: 'x' } });
    await expect(login.run(['--url', running.url], context)).rejects.toThrow(`Cannot use ${secret} without ${id}`);
  });
});

const admin = { email: 'admin@localhost' };

describe('a browser session', () => {
  it('commands use a valid browser session without renewing it', async () => {
    const context = await signedIn();
    expect(await whoAmI(context)).toMatchObject(admin);
    expect(context.grants).toEqual([]);
  });

  it.each([3570, 3600, 86_400 * 29])('a command renews the browser session after %i s', async (seconds) => {
    const context = await signedIn();
    const before = openTokenStore(context).read();
    clock.advance(seconds * 1000);
    expect(await whoAmI(context)).toMatchObject(admin);
    expect(context.grants).toEqual(['refresh_token']);
    const after = openTokenStore(context).read();
    expect(after.current).toBe(running.url);
    expect(after.servers[running.url]).toMatchObject({
      clientId: 'flagmeter-cli',
      scope: 'openid email flagmeter',
      expiresAt: clock.now() + 3_600_000,
    });
    expect(after.servers[running.url]?.refreshToken).not.toBe(before.servers[running.url]?.refreshToken);
  });

  it('many concurrent commands renew the session only once, and the session stays valid', async () => {
    const context = await signedIn();
    clock.advance(3_600_000);
    const all = await Promise.all(Array.from({ length: 8 }, () => whoAmI(context)));
    expect(all).toEqual(Array.from({ length: 8 }, () => expect.objectContaining(admin)));
    expect(context.grants).toEqual(['refresh_token']);
    clock.advance(3_600_000);
    expect(await whoAmI(context)).toMatchObject(admin);
  });

  it('a running command continues after another command has renewed the session', async () => {
    const context = await signedIn();
    const access = openAccess(context, running.url);
    const held = await access.token();
    clock.advance(3_580_000);
    await whoAmI(context);
    const api = openApi(context, running.url, { ...access, token: async () => held });
    expect(await api.call('GET', ['users', 'me'])).toMatchObject(admin);
    expect(context.grants).toEqual(['refresh_token']);
  });

  it('a command deletes a session that has ended, and suggests login', async () => {
    const context = await signedIn();
    clock.advance(31 * 86_400_000);
    const over = {
      exitCode: 3,
      message: `The session at ${running.url} has ended; sign in with: flagmeter login --url ${running.url}`,
    };
    await expect(whoAmI(context)).rejects.toMatchObject(over);
    const none = {
      exitCode: 3,
      message: `Not signed in to ${running.url}; sign in with: flagmeter login --url ${running.url}`,
    };
    await expect(whoAmI(context)).rejects.toMatchObject(none);
    expect(context.grants).toEqual(['refresh_token']);
  });

  it('a command keeps the session if the token host cannot be reached', async () => {
    const context = await signedIn();
    clock.advance(3_600_000);
    const offline = { ...context, fetch: () => Promise.reject(new Error('no network')) };
    await expect(whoAmI(offline)).rejects.toMatchObject({ exitCode: 7 });
    expect(await whoAmI(context)).toMatchObject(admin);
  });
});

describe('a session of an API key', () => {
  const asKey = () => ['--client-id', running.service.credentials.clientId];
  const answers = () => ({ answers: [running.service.credentials.clientSecret] });

  it('a session of an API key lasts one hour', async () => {
    const context = await signedIn(asKey(), answers());
    clock.advance(3_500_000);
    expect(await whoAmI(context)).toMatchObject({ name: 'First API key' });
    clock.advance(100_000);
    await expect(whoAmI(context)).rejects.toMatchObject({ exitCode: 3 });
    expect(context.grants).toEqual([]);
  });

  it('a command renews the session of an API key with the stored secret', async () => {
    const context = await signedIn([...asKey(), '--store'], answers());
    clock.advance(3_600_000);
    expect(await whoAmI(context)).toMatchObject({ name: 'First API key' });
    clock.advance(86_400_000);
    expect(await whoAmI(context)).toMatchObject({ name: 'First API key' });
    expect(context.grants).toEqual(['client_credentials', 'client_credentials']);
  });
});

describe('commands without a session', () => {
  it('commands without a session use FLAGMETER_TOKEN', async () => {
    const given = await token(running.service.http, running.service.credentials);
    const context = testContext({ clock, env: { FLAGMETER_TOKEN: given } });
    expect(await whoAmI(context)).toMatchObject({ name: 'First API key' });
  });

  it('commands use FLAGMETER_TOKEN instead of a session, and report its refusal', async () => {
    const context = await signedIn();
    const env = { ...context.env, FLAGMETER_TOKEN: 'a.b.c' };
    await expect(whoAmI({ ...context, env })).rejects.toMatchObject({
      exitCode: 3,
      message: 'The server rejects the token in FLAGMETER_TOKEN',
    });
    expect(await whoAmI(context)).toMatchObject(admin);
  });

  it('commands without a session use an API key from the environment, and store nothing', async () => {
    const { clientId, clientSecret } = running.service.credentials;
    const env = { FLAGMETER_CLIENT_ID: clientId, FLAGMETER_CLIENT_SECRET: clientSecret };
    const context = testContext({ clock, env });
    expect(await whoAmI(context)).toMatchObject({ name: 'First API key' });
    expect(openTokenStore(context).read()).toEqual({ current: null, servers: {} });
  });
});

it('the server address comes from the option, the variable, the last login, or the default', async () => {
  const context = await signedIn();
  const withVariable = { ...context, env: { ...context.env, FLAGMETER_URL: 'https://b.example/x/' } };
  expect(resolveServerUrl(withVariable, 'https://A.example:443/')).toBe('https://a.example');
  expect(resolveServerUrl(withVariable, undefined)).toBe('https://b.example/x');
  expect(resolveServerUrl(context, undefined)).toBe(running.url);
  expect(resolveServerUrl(testContext(), undefined)).toBe('http://127.0.0.1:8080');
  const wrong = testContext({ env: { FLAGMETER_URL: 'b.example' } });
  expect(() => resolveServerUrl(wrong, undefined)).toThrow('Cannot use FLAGMETER_URL b.example: must be');
});

describe('a workload token', () => {
  const pair = generateKeyPairSync('ed25519');
  const trust = {
    issuer: 'https://ci.example',
    audience: 'https://flags.example',
    subject: 'repo:shop/checkout:ref:*',
    jwks: { keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: 'a' }] },
  };

  it('a workload token replaces the secret of an API key, and is read from its file for each token request', async () => {
    const { http, credentials } = running.service;
    const admin = await token(http, credentials);
    const path = `/api/v2/teams/${credentials.teamId}/api-keys`;
    const body = { name: 'CI', scopes: ['read'], trust };
    const { clientId } = (await manage(http, admin, 'POST', path, 201, body)) as { clientId: string };
    const sign = (sub: string) =>
      new SignJWT({ iss: trust.issuer, aud: trust.audience, sub })
        .setProtectedHeader({ alg: 'EdDSA', kid: 'a' })
        .setExpirationTime(new Date(clock.now() + 60_000))
        .sign(pair.privateKey);
    const files: Record<string, string> = { job: `${await sign('repo:shop/checkout:ref:main')}\n` };
    const env = { FLAGMETER_CLIENT_ID: clientId, FLAGMETER_WORKLOAD_TOKEN_FILE: 'job' };
    const context = testContext({ clock, env, files });
    const access = openAccess(context, running.url);
    expect(await openApi(context, running.url, access).call('GET', ['users', 'me'])).toMatchObject({ name: 'CI' });
    const first = await access.token();
    expect(await access.replace(first)).not.toBe(first);
    files['job'] = await sign('repo:shop/other:ref:main');
    await expect(access.replace(first)).rejects.toThrow('its claim sub is "repo:shop/other:ref:main"');
    delete files['job'];
    await expect(access.replace(first)).rejects.toThrow('the file that FLAGMETER_WORKLOAD_TOKEN_FILE names');
  });

  it('a workload token without a client id is refused', () => {
    const context = testContext({ env: { FLAGMETER_WORKLOAD_TOKEN_FILE: 'job' } });
    expect(() => openAccess(context, running.url)).toThrow('without FLAGMETER_CLIENT_ID');
  });
});
