import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { UsageError } from '../../src/cli/options.ts';
import { login } from '../../src/cli/sign-in/commands.ts';
import { TestBrowser } from '../auth/test-browser.ts';
import { type TestContext, testContext } from './fixture.ts';
import { runService } from './running-service.ts';

const running = runService();

/** A machine without a browser. Tests set actions, such as a sign-in, that run during its nth wait. */
interface Machine {
  readonly context: TestContext;
  /** Durations of the waits so far, in seconds. */
  readonly waits: readonly number[];
}

function machine(
  meanwhile: Readonly<Record<number, () => unknown>> = {},
  others: Partial<Pick<Context, 'fetch'>> = {},
): Machine {
  const { clock } = running;
  const waits: number[] = [];
  const sleep = async (ms: number) => {
    waits.push(ms / 1000);
    clock.advance(ms);
    await meanwhile[waits.length]?.();
  };
  return { context: { ...testContext({ clock }), sleep, ...others }, waits };
}

/** Opens a browser on another machine, and enters the code that the first machine shows. */
async function enterCode({ output }: TestContext, action: string): Promise<void> {
  const [, page = '', code = ''] = /\n\n {2}(http\S+)\n {2}(\S+)\n/.exec(output.err) ?? [];
  expect(page).toBe(`${running.url}/connect/device`);
  const browser = new TestBrowser(running.service.http, '127.0.0.1');
  const { adminEmail: email, adminPassword: password } = running.service.credentials;
  await browser.open(`/connect/device?user_code=${code}`);
  await browser.submit({ email, password, action: 'sign-in' });
  await browser.submit({ action });
}

function attempt({ context }: Machine, ...argv: string[]): Promise<number> {
  return login.run(['--url', running.url, '--device', ...argv], context);
}

describe('login --device', () => {
  it('login --device shows an address and a code, waits, and stores a session that can be renewed', async () => {
    const one: Machine = machine({ 3: () => enterCode(one.context, 'continue') });
    expect(await attempt(one)).toBe(0);
    expect(one.waits).toEqual([5, 5, 5]);
    const { err, out } = one.context.output;
    expect(out).toBe('');
    expect(err).toMatch(
      /^Open this address in a browser on any machine and enter the code to sign in:\n\n {2}\S+\/connect\/device\n {2}\S{4}-\S{4}\n\nThis address includes the code: \S+\nWaiting up to 10 minutes; press Ctrl-C to cancel\n/,
    );
    expect(err).toContain(`Signed in to ${running.url} as admin@localhost\n`);
    expect(err).not.toMatch(/fm_device_|eyJ/);
    const stored = JSON.parse(readFileSync(one.context.credentialsFile, 'utf8'));
    expect(stored.servers[running.url]).toMatchObject({
      clientId: 'flagmeter-cli',
      scope: 'openid email flagmeter',
      refreshToken: expect.any(String),
    });
  });

  it('login --device waits five seconds longer between polls after each slow_down', async () => {
    const { clock } = running;
    const back = () => clock.advance(-4000);
    const one: Machine = machine({ 2: back, 3: () => enterCode(one.context, 'continue') });
    expect(await attempt(one)).toBe(0);
    expect(one.waits).toEqual([5, 5, 10]);
  });

  it('login --device doubles its polling interval after a failure to reach the server', async () => {
    let calls = 0;
    const fetchOften = (url: string, init: RequestInit) => {
      calls += url.endsWith('/connect/token') ? 1 : 0;
      if (calls === 2 && url.endsWith('/connect/token')) throw new TypeError('fetch failed');
      return fetch(url, init);
    };
    const one: Machine = machine(
      { 3: () => enterCode(one.context, 'continue') },
      { fetch: async (url, init) => fetchOften(url, init) },
    );
    expect(await attempt(one)).toBe(0);
    expect(one.waits).toEqual([5, 5, 10]);
  });

  it('login --device fails if the user refuses the sign-in', async () => {
    const one: Machine = machine({ 1: () => enterCode(one.context, 'cancel') });
    await expect(attempt(one)).rejects.toMatchObject({
      exitCode: 3,
      message: 'The sign-in was refused in the browser',
    });
  });

  it('login --device fails if the code expires', async () => {
    const one = machine();
    await expect(attempt(one)).rejects.toMatchObject({
      exitCode: 3,
      message: 'The sign-in was not completed in time; start again',
    });
    expect(one.waits).toEqual(Array.from({ length: 120 }, () => 5));
  });

  it('login --device reports a server without support for device sign-in', async () => {
    const server = createServer((_, response) => {
      response.end(JSON.stringify({ issuer: findUrl(), scopes_supported: ['openid'] }));
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const findUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(login.run(['--url', findUrl(), '--device'], machine().context)).rejects.toThrow(
      `${findUrl()} does not support signing in with a browser on another machine`,
    );
  });

  it('login --device sends no code in clear text if the server has an HTTPS address', async () => {
    const address = 'https://flags.example';
    const asked: string[] = [];
    const answer = async (url: string) => {
      asked.push(url);
      const endpoint = 'http://flags.example/connect/deviceauthorization';
      const metadata = { issuer: address, scopes_supported: ['openid'], device_authorization_endpoint: endpoint };
      return Response.json(metadata);
    };
    const { context } = machine({}, { fetch: answer });
    await expect(login.run(['--url', address, '--device'], context)).rejects.toThrow(
      `${address} does not support signing in with a browser on another machine`,
    );
    expect(asked).toEqual([`${address}/.well-known/openid-configuration`]);
  });

  it.each(['--client-id=x', '--store', '--no-browser', '--client-secret-file=x'])(
    'login --device refuses the option %s',
    async (flag) => {
      await expect(attempt(machine(), flag)).rejects.toThrow(
        new UsageError(`Cannot use ${flag.split('=')[0]} with --device`),
      );
    },
  );
});

it('login suggests login --device if no browser can be opened', async () => {
  const one = machine();
  const err = (text: string) => {
    if (text.includes('--device')) throw new Error(text);
  };
  await expect(login.run(['--url', running.url], { ...one.context, err })).rejects.toThrow(
    'No browser found. To sign in with a browser on another machine: flagmeter login --device',
  );
});
