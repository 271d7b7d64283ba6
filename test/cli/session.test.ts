import { describe, expect, it } from 'vitest';
import { openApi } from '../../src/cli/api.ts';
import { login } from '../../src/cli/login.ts';
import { openAccess, serverUrlOf } from '../../src/cli/session.ts';
import { openTokenStore } from '../../src/cli/token-store.ts';
import { UsageError } from '../../src/flags.ts';
import { token } from '../support/binary.ts';
import { type SurroundingsOptions, type TestSurroundings, testSurroundings } from './fixture.ts';
import { runService } from './running-service.ts';
import { signInAt } from './sign-in.ts';

const running = runService();
const { clock } = running;

/** Surroundings of somebody who is signed in; counts the requests to the token endpoint from then on. */
async function signedIn(
  argv: readonly string[] = [],
  options: SurroundingsOptions = {},
): Promise<TestSurroundings & { grants: string[] }> {
  const openBrowser = (address: string) => void signInAt(address, running.service.credentials);
  const surroundings = testSurroundings({ clock, openBrowser, ...options });
  await login(['--url', running.url, ...argv], surroundings);
  const grants: string[] = [];
  return {
    ...surroundings,
    grants,
    fetch: (target, init) => {
      if (target.endsWith('/connect/token'))
        grants.push(String(new URLSearchParams(String(init.body)).get('grant_type')));
      return fetch(target, init);
    },
  };
}

/** Asks who the caller is, with an access of its own as each process has one. */
async function whoAmI(surroundings: TestSurroundings): Promise<unknown> {
  return openApi(surroundings, running.url, openAccess(surroundings, running.url)).call('GET', [
    'users',
    'me',
  ]);
}

describe('half of an API key in the environment', () => {
  const id = 'FLAGMETER_CLIENT_ID';
  const secret = 'FLAGMETER_CLIENT_SECRET';

  it.each([
    [id, secret],
    [secret, id],
  ])('%s alone does not act as the last login', async (set, missing) => {
    const before = await signedIn();
    const surroundings = { ...before, env: { ...before.env, [set]: 'x' } };
    expect(() => openAccess(surroundings, running.url)).toThrow(
      new UsageError(`Cannot use ${set} without ${missing}: set both, or neither to use the last login`),
    );
  });

  it('does not begin a sign-in by browser', async () => {
    const surroundings = testSurroundings({ env: { [secret]: 'x' } });
    await expect(login(['--url', running.url], surroundings)).rejects.toThrow(
      `Cannot use ${secret} without ${id}`,
    );
  });
});

const admin = { email: 'admin@localhost' };

describe('a session by browser', () => {
  it('is used as it is while it is good', async () => {
    const surroundings = await signedIn();
    expect(await whoAmI(surroundings)).toMatchObject(admin);
    expect(surroundings.grants).toEqual([]);
  });

  it.each([3570, 3600, 86_400 * 29])('is renewed after %i s', async (seconds) => {
    const surroundings = await signedIn();
    const before = openTokenStore(surroundings).read();
    clock.advance(seconds * 1000);
    expect(await whoAmI(surroundings)).toMatchObject(admin);
    expect(surroundings.grants).toEqual(['refresh_token']);
    const after = openTokenStore(surroundings).read();
    expect(after.current).toBe(running.url);
    expect(after.servers[running.url]).toMatchObject({
      clientId: 'flagmeter-cli',
      scope: 'openid email flagmeter',
      expiresAt: clock.now() + 3_600_000,
    });
    expect(after.servers[running.url]?.refreshToken).not.toBe(before.servers[running.url]?.refreshToken);
  });

  it('is renewed once by many commands at the same moment, and lives on', async () => {
    const surroundings = await signedIn();
    clock.advance(3_600_000);
    const all = await Promise.all(Array.from({ length: 8 }, () => whoAmI(surroundings)));
    expect(all).toEqual(Array.from({ length: 8 }, () => expect.objectContaining(admin)));
    expect(surroundings.grants).toEqual(['refresh_token']);
    clock.advance(3_600_000);
    expect(await whoAmI(surroundings)).toMatchObject(admin);
  });

  it('goes on in a command whose token another has replaced meanwhile', async () => {
    const surroundings = await signedIn();
    const access = openAccess(surroundings, running.url);
    const held = await access.token();
    clock.advance(3_580_000);
    await whoAmI(surroundings);
    const api = openApi(surroundings, running.url, { ...access, token: async () => held });
    expect(await api.call('GET', ['users', 'me'])).toMatchObject(admin);
    expect(surroundings.grants).toEqual(['refresh_token']);
  });

  it('that is over says how to sign in, and is forgotten', async () => {
    const surroundings = await signedIn();
    clock.advance(31 * 86_400_000);
    const over = {
      exitCode: 3,
      message: `The session at ${running.url} is over; sign in with: flagmeter login --url ${running.url}`,
    };
    await expect(whoAmI(surroundings)).rejects.toMatchObject(over);
    const none = {
      exitCode: 3,
      message: `Not signed in to ${running.url}; sign in with: flagmeter login --url ${running.url}`,
    };
    await expect(whoAmI(surroundings)).rejects.toMatchObject(none);
    expect(surroundings.grants).toEqual(['refresh_token']);
  });

  it('is kept when the token host cannot be reached', async () => {
    const surroundings = await signedIn();
    clock.advance(3_600_000);
    const offline = { ...surroundings, fetch: () => Promise.reject(new Error('no network')) };
    await expect(whoAmI(offline)).rejects.toMatchObject({ exitCode: 7 });
    expect(await whoAmI(surroundings)).toMatchObject(admin);
  });
});

describe('a session of an API key', () => {
  const asKey = () => ['--client-id', running.service.credentials.clientId];
  const answers = () => ({ answers: [running.service.credentials.clientSecret] });

  it('lasts an hour', async () => {
    const surroundings = await signedIn(asKey(), answers());
    clock.advance(3_500_000);
    expect(await whoAmI(surroundings)).toMatchObject({ name: 'First API key' });
    clock.advance(100_000);
    await expect(whoAmI(surroundings)).rejects.toMatchObject({ exitCode: 3 });
    expect(surroundings.grants).toEqual([]);
  });

  it('whose secret is kept is renewed by it', async () => {
    const surroundings = await signedIn([...asKey(), '--store'], answers());
    clock.advance(3_600_000);
    expect(await whoAmI(surroundings)).toMatchObject({ name: 'First API key' });
    clock.advance(86_400_000);
    expect(await whoAmI(surroundings)).toMatchObject({ name: 'First API key' });
    expect(surroundings.grants).toEqual(['client_credentials', 'client_credentials']);
  });
});

describe('without a session', () => {
  it('FLAGMETER_TOKEN is taken', async () => {
    const given = await token(running.service.http, running.service.credentials);
    const surroundings = testSurroundings({ clock, env: { FLAGMETER_TOKEN: given } });
    expect(await whoAmI(surroundings)).toMatchObject({ name: 'First API key' });
  });

  it('FLAGMETER_TOKEN comes before a session, and says so when it is refused', async () => {
    const surroundings = await signedIn();
    const env = { ...surroundings.env, FLAGMETER_TOKEN: 'a.b.c' };
    await expect(whoAmI({ ...surroundings, env })).rejects.toMatchObject({
      exitCode: 3,
      message: 'The server refuses the token in FLAGMETER_TOKEN',
    });
    expect(await whoAmI(surroundings)).toMatchObject(admin);
  });

  it('an API key in the environment is taken, and nothing is kept', async () => {
    const { clientId, clientSecret } = running.service.credentials;
    const env = { FLAGMETER_CLIENT_ID: clientId, FLAGMETER_CLIENT_SECRET: clientSecret };
    const surroundings = testSurroundings({ clock, env });
    expect(await whoAmI(surroundings)).toMatchObject({ name: 'First API key' });
    expect(openTokenStore(surroundings).read()).toEqual({ current: null, servers: {} });
  });
});

describe('the server that is meant', () => {
  it('is that of the flag, the variable, the last login, or the usual one', async () => {
    const surroundings = await signedIn();
    const withVariable = {
      ...surroundings,
      env: { ...surroundings.env, FLAGMETER_URL: 'https://b.example/x/' },
    };
    expect(serverUrlOf(withVariable, 'https://A.example:443/')).toBe('https://a.example');
    expect(serverUrlOf(withVariable, undefined)).toBe('https://b.example/x');
    expect(serverUrlOf(surroundings, undefined)).toBe(running.url);
    expect(serverUrlOf(testSurroundings(), undefined)).toBe('http://127.0.0.1:8080');
    const wrong = testSurroundings({ env: { FLAGMETER_URL: 'b.example' } });
    expect(() => serverUrlOf(wrong, undefined)).toThrow('Cannot use FLAGMETER_URL b.example: must be');
  });
});
