import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { login, logout } from '../../src/cli/sign-in/commands.ts';
import { openTokenStore, type StoredSession } from '../../src/cli/token-store.ts';
import { type ContextOptions, type TestContext, testContext } from './fixture.ts';
import { runService } from './running-service.ts';
import { signInAt } from './sign-in.ts';

const running = runService();
const { clock } = running;

function around(options: ContextOptions = {}): TestContext {
  return testContext({ clock, ...options });
}

function withBrowser(options: ContextOptions = {}): TestContext & { pages: Promise<string>[] } {
  const pages: Promise<string>[] = [];
  const openBrowser = (address: string) => void pages.push(signInAt(address, running.service.credentials));
  return { ...around({ ...options, openBrowser }), pages };
}

function readSession(context: TestContext): StoredSession | undefined {
  return openTokenStore(context).read().servers[running.url];
}

async function requestStatus({ accessToken }: StoredSession): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await fetch(`${running.url}/api/v2/applications`, { headers })).status;
}

describe('login as an API key', () => {
  it.each<[string, (id: string, secret: string) => [string[], ContextOptions]]>([
    ['a file', (id, secret) => [['--client-id', id, '--client-secret-file', 's'], { files: { s: `${secret}\nx` } }]],
    ['the variable', (id, secret) => [['--client-id', id], { env: { FLAGMETER_CLIENT_SECRET: secret } }]],
    ['the variables', (id, secret) => [[], { env: { FLAGMETER_CLIENT_ID: id, FLAGMETER_CLIENT_SECRET: secret } }]],
    ['a person', (id, secret) => [['--client-id', id], { answers: [secret] }]],
  ])('login as an API key reads the secret from %s, and does not store it', async (_where, given) => {
    const { clientId, clientSecret } = running.service.credentials;
    const [argv, options] = given(clientId, clientSecret);
    const context = around(options);
    expect(await login.run([...argv, '--url', `${running.url}/`], context)).toBe(0);
    expect(context.output).toEqual({ out: '', err: `Signed in to ${running.url} as First API key\n` });
    const session = readSession(context) as StoredSession;
    expect(session).toEqual({
      authUrl: running.url,
      clientId,
      scope: 'openid flagmeter',
      accessToken: expect.any(String),
      expiresAt: clock.now() + 3_600_000,
    });
    expect(await requestStatus(session)).toBe(200);
  });

  it('login --store stores the secret of an API key', async () => {
    const { clientId, clientSecret } = running.service.credentials;
    const context = around({ answers: [clientSecret] });
    await login.run(['--url', running.url, '--client-id', clientId, '--store'], context);
    expect(readSession(context)?.clientSecret).toBe(clientSecret);
  });

  it('login with a wrong secret fails with exit code 3, and keeps the previous session', async () => {
    const { clientId, clientSecret } = running.service.credentials;
    const context = around({ answers: [clientSecret, 'wrong'] });
    await login.run(['--url', running.url, '--client-id', clientId], context);
    const before = readSession(context) as StoredSession;
    await expect(login.run(['--url', running.url, '--client-id', clientId], context)).rejects.toMatchObject({
      exitCode: 3,
      message: 'The client is unknown or its secret is wrong (invalid_client)',
    });
    expect(readSession(context)).toEqual(before);
    expect(await requestStatus(before)).toBe(200);
  });

  it('login as an API key ends the session that it replaces', async () => {
    const { clientId, clientSecret } = running.service.credentials;
    const context = around({ answers: [clientSecret, clientSecret] });
    await login.run(['--url', running.url, '--client-id', clientId], context);
    const before = readSession(context) as StoredSession;
    await login.run(['--url', running.url, '--client-id', clientId], context);
    expect(await requestStatus(before)).toBe(401);
    expect(await requestStatus(readSession(context) as StoredSession)).toBe(200);
  });

  it.each([
    [['--client-id', 'x'], 'Cannot sign in without a secret: use --client-secret-file or FLAGMETER_CLIENT_SECRET'],
    [['--client-id', 'x', '--client-secret-file', 'no'], 'Cannot read the file that --client-secret-file names: '],
    [['--store'], 'Cannot use --store without --client-id'],
    [['--client-secret-file', 's'], 'Cannot use --client-secret-file without --client-id'],
    [['--client-secret', 's'], 'Unknown option --client-secret'],
    [['--url', 'flags.example'], 'Cannot use --url flags.example: must be an address'],
    [['--url', 'http://me:secret@flags.example'], 'Cannot use --url http://…@flags.example: must be'],
    [['--auth-url', 'x'], 'Cannot use --auth-url x: must be an address'],
  ])('login refuses the arguments %j', async (argv, message) => {
    const attempt = login.run(argv, around());
    await expect(attempt).rejects.toThrow(UsageError);
    await expect(attempt).rejects.toThrow(message);
  });

  it('login warns about an address without encryption', async () => {
    const context = around({ answers: ['x'] });
    const attempt = login.run(['--url', 'http://flags.invalid', '--client-id', 'x'], context);
    await expect(attempt).rejects.toMatchObject({ exitCode: 7 });
    expect(context.output.err).toBe(
      'Warning: this address is not encrypted; others on the network can read the tokens\n',
    );
  });
});

describe('login with a browser', () => {
  it('login with a browser stores a session that can be renewed', async () => {
    const context = withBrowser();
    expect(await login.run(['--url', running.url], context)).toBe(0);
    expect(context.output.err).toMatch(
      new RegExp(
        `^Open this address .*\n\n  ${running.url}/connect/authorize\\?.*\n\nSigned in to ${running.url} as admin@localhost\n$`,
      ),
    );
    expect(await Promise.all(context.pages)).toEqual([expect.stringContaining('You are signed in.')]);
    const session = readSession(context) as StoredSession;
    expect(session).toMatchObject({ clientId: 'flagmeter-cli', refreshToken: expect.any(String) });
    expect(session.scope).toBe('openid email flagmeter');
    expect(await requestStatus(session)).toBe(200);
  });

  it('login with a browser prints neither the code, nor the verifier, nor a token', async () => {
    const context = withBrowser();
    await login.run(['--url', running.url], context);
    const { accessToken, refreshToken } = readSession(context) as StoredSession;
    for (const secret of [accessToken, refreshToken, 'code=', 'code_verifier'])
      expect(context.output.err).not.toContain(secret);
  });

  it.each([
    ['the wrong issuer', { code: 'c', iss: 'http://evil.example' }, /is not from/, 1],
    ['no issuer', { code: 'c' }, /is not from/, 1],
    ['no code', { iss: '' }, /has no code/, 1],
    ['a made-up code', { code: 'c', iss: '' }, /The code is not valid \(invalid_grant\)$/, 3],
    [
      'a refusal',
      { error: 'access_denied', error_description: 'No\u0007', iss: '' },
      /^No\ufffd \(access_denied\)$/,
      3,
    ],
  ])('login stores nothing if the redirect from the browser has %s', async (_what, answer, message, exitCode) => {
    const pages: Promise<string>[] = [];
    const openBrowser = (address: string) => {
      const asked = new URL(address).searchParams;
      const back = new URLSearchParams({ ...answer, state: asked.get('state') ?? '' });
      if (back.get('iss') === '') back.set('iss', running.url);
      pages.push(fetch(`${asked.get('redirect_uri')}?${back}`).then((response) => response.text()));
    };
    const context = around({ openBrowser });
    await expect(login.run(['--url', running.url], context)).rejects.toMatchObject({
      exitCode,
      message: expect.stringMatching(message),
    });
    expect(await Promise.all(pages)).toEqual([expect.stringContaining('The sign-in failed')]);
    expect(readSession(context)).toBeUndefined();
  });

  it('login with a browser rejects a token host whose metadata names another issuer', async () => {
    const { port } = new URL(running.url);
    const attempt = login.run(['--url', `http://localhost:${port}`], withBrowser());
    await expect(attempt).rejects.toMatchObject({
      exitCode: 1,
      message: `The token host at http://localhost:${port} has the address ${running.url}: use that address, with --url or --auth-url`,
    });
  });
});

/** Starts a server for one test. @returns its address */
async function start(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('login at a server that is not flagmeter', () => {
  it.each<[number, string, RegExp]>([
    [404, '{}', /is not a token host; use --auth-url for the token host of the server$/],
    [200, '<html>', /does not respond like a flagmeter server \(status 200\)$/],
    [200, '{"issuer":"x"}', /does not respond like a flagmeter server \(status 200\)$/],
    [500, '{}', /does not respond like a flagmeter server \(status 500\)$/],
  ])('login reports a server that responds with status %i and the body %s', async (status, body, message) => {
    const address = await start((_, response) => void response.writeHead(status).end(body));
    const attempt = login.run(['--url', address], around());
    await expect(attempt).rejects.toMatchObject({ exitCode: 1, message: expect.stringMatching(message) });
  });

  it.each<[string, number, object, RegExp, number]>([
    [
      'tokens of a type that it does not know',
      200,
      { access_token: 'secret', token_type: 'mac', expires_in: 60 },
      /does not respond like a flagmeter server \(status 200\)$/,
      1,
    ],
    [
      'tokens without a lifetime',
      200,
      { access_token: 'secret', token_type: 'Bearer' },
      /does not respond like a flagmeter server \(status 200\)$/,
      1,
    ],
    [
      'an error of 5xx',
      503,
      { error: 'temporarily_unavailable', error_description: 'Come back later\u0007' },
      /^Come back later\ufffd \(temporarily_unavailable\)$/,
      7,
    ],
  ])('login reports a token response with %s, and shows no token', async (_what, status, body, message, exitCode) => {
    const metadata = { issuer: 'http://elsewhere.example', scopes_supported: ['openid'] };
    const address = await start((request, response) => {
      const isToken = request.url === '/connect/token';
      response.writeHead(isToken ? status : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isToken ? body : metadata));
    });
    const context = around({ answers: ['s'] });
    const attempt = login.run(['--url', address, '--client-id', 'x'], context);
    await expect(attempt).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });
    await expect(attempt).rejects.not.toThrow('secret');
    expect(openTokenStore(context).read()).toEqual({ current: null, servers: {} });
  });

  it('login revokes the tokens and stores nothing if the API does not respond', async () => {
    const address = await start((_, response) => void response.writeHead(404).end('{}'));
    const context = withBrowser();
    let got: StoredSession | undefined;
    const watched = async (target: string, init: RequestInit) => {
      const response = await fetch(target, init);
      if (target.endsWith('/connect/token'))
        got = {
          accessToken: ((await response.clone().json()) as { access_token: string }).access_token,
        } as StoredSession;
      return response;
    };
    const watching = { ...context, fetch: watched };
    const attempt = login.run(['--url', address, '--auth-url', running.url], watching);
    await expect(attempt).rejects.toThrow(`${address} does not respond like a flagmeter server (status 404)`);
    expect(openTokenStore(context).read()).toEqual({ current: null, servers: {} });
    expect(await requestStatus(got as StoredSession)).toBe(401);
  });
});

describe('logout', () => {
  it.each(['a browser', 'an API key'])('logout ends a session by %s, and deletes its tokens', async (by) => {
    const { clientId, clientSecret } = running.service.credentials;
    const context = withBrowser({ answers: [clientSecret] });
    await login.run(
      by === 'a browser' ? ['--url', running.url] : ['--url', running.url, '--client-id', clientId],
      context,
    );
    const session = readSession(context) as StoredSession;
    context.output.err = '';
    expect(await logout.run([], context)).toBe(0);
    expect(context.output).toEqual({ out: '', err: `Signed out of ${running.url}\n` });
    expect(openTokenStore(context).read()).toEqual({ current: null, servers: {} });
    expect(await requestStatus(session)).toBe(401);
    expect(await logout.run(['--url', running.url], context)).toBe(0);
    expect(context.output.err).toContain(`Not signed in to ${running.url}\n`);
  });

  it('logout deletes the tokens even if the server cannot be reached', async () => {
    const { clientId, clientSecret } = running.service.credentials;
    const context = around({ answers: [clientSecret] });
    await login.run(['--url', running.url, '--client-id', clientId], context);
    const offline = { ...context, fetch: () => Promise.reject(new Error('no network')) };
    await expect(logout.run([], offline)).rejects.toMatchObject({
      exitCode: 1,
      message: `The tokens were deleted here, but might still be valid: Cannot reach ${running.url}: no network`,
    });
    expect(readSession(context)).toBeUndefined();
  });
});
