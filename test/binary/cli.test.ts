import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestBrowser } from '../auth/test-browser.ts';
import { signInAt } from '../cli/sign-in.ts';
import {
  type Binary,
  binaryPath,
  type Credentials,
  freshDirectory,
  prepare,
  startBinary,
  stop,
} from '../support/binary.ts';
import { type ExitResult, runBinary, runProgram } from '../support/run-binary.ts';

let service: Binary;
let credentials: Credentials;
let url: string;

/** Environment variables of a command-line user. They contain no settings of the server. */
const userVariables = {
  FLAGMETER_URL: 'http://flags.invalid',
  FLAGMETER_TOKEN: 'x',
  FLAGMETER_CLIENT_ID: 'x',
  FLAGMETER_CLIENT_SECRET: 'x',
};

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  credentials = await prepare(data);
  service = await startBinary({ data, env: userVariables });
  url = `http://${service.http}`;
});
afterAll(async () => {
  if (service) await stop(service);
});

/** A user of this machine with a separate home folder. */
interface Home {
  readonly env: Record<string, string>;
  readonly credentialsFile: string;
}

function newHome(env: Record<string, string> = {}): Home {
  const home = freshDirectory();
  return {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
    credentialsFile: `${home}/.config/flagmeter/credentials.json`,
  };
}

/** Runs a command to its end, with the environment variables of a home folder. */
async function run({ env }: Home, ...args: string[]): Promise<Omit<ExitResult, 'signal'>> {
  const { code, stdout, stderr } = await runBinary(args, env);
  return { code, stdout, stderr };
}

/** Runs a command on a terminal, and types each answer when its question appears. @returns the terminal's output */
async function onTerminal({ env }: Home, command: string, answers: [string, string][]): Promise<string> {
  const child = spawn('script', ['-qec', `"${binaryPath}" ${command}; echo "exit $?"`, '/dev/null'], {
    cwd: freshDirectory(),
    env,
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    const [question, answer] = answers[0] ?? [];
    if (question === undefined || !shown.includes(question)) return;
    answers.shift();
    child.stdin.write(answer);
  });
  await once(child, 'close');
  return shown.replaceAll('\r\n', '\n');
}

test('a server started at a terminal prints its credentials once, the address of the console and the next step', async () => {
  const stop = '\u0003'; // Ctrl-C
  const shown = await onTerminal(newHome(), 'serve --listen localhost:0 --grpc-listen 127.0.0.1:0', [
    ['Ctrl-C stops the server.', stop],
  ]);
  const [, address] = /Console +(http:\/\/localhost:\d+)\/\n/.exec(shown) ?? [];
  expect(shown).toContain(`flagmeter login --url ${address}\n`);
  expect(shown.match(/^ {2}Password +\S+$/gm)).toHaveLength(1);
  expect(shown).toMatch(/^ {2}Data +\/\S+\/flagmeter-data$/m);
  expect(shown).not.toMatch(/flagmeter ready|INFO +(ready|prepared)/);
  expect(shown).toMatch(/ INFO +stopped code=0/);
});

async function signedIn(): Promise<Home> {
  const home = newHome();
  const secret = `${freshDirectory()}/secret`;
  writeFileSync(secret, `${credentials.clientSecret}\n`, { mode: 0o600 });
  const argv = ['--url', url, '--client-id', credentials.clientId, '--client-secret-file', secret];
  expect(await run(home, 'login', ...argv)).toEqual({
    code: 0,
    stdout: '',
    stderr: `Signed in to ${url} as First API key\n`,
  });
  return home;
}

/** Waits until the standard error of a process matches. */
function shownBy(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let shown = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      const found = pattern.exec(shown);
      if (found !== null) resolve(found);
    });
    child.once('close', () => reject(new Error(`it ended with: ${shown}`)));
  });
}

/** Changes the stored expiry of an access token, so that the next command renews the token. */
function expire({ credentialsFile }: Home): void {
  const stored = JSON.parse(readFileSync(credentialsFile, 'utf8'));
  stored.servers[url].expiresAt = 0;
  writeFileSync(credentialsFile, JSON.stringify(stored));
}

describe('the command line', () => {
  test('the command line runs the commands of a script, and has an exit code for each kind of failure', async () => {
    const home = await signedIn();
    expect(statSync(home.credentialsFile).mode & 0o777).toBe(0o600);
    const made = await run(home, 'apps', 'create', 'Shop', '--env', 'Production', '--json');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { id } = JSON.parse(made.stdout);
    const key = await run(home, 'keys', 'create', 'Backend', '--app', 'Shop');
    expect(key.stdout).toMatch(/^ {2}Key +fm_be_\w+$/m);
    expect(key.stderr).toBe('Key: shown only once; keep it in a safe place\n');
    const listed = await run(home, 'apps', 'list');
    expect(listed.stdout).toMatch(
      /^NAME +ENVIRONMENTS +CREATED +TEAM +ID\nShop +Production +\S+ \S+ UTC +team_\w+ +app_\w+\n$/,
    );
    expect(await run(home, 'usage', '--app', 'Shop')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Shop, Production, .* UTC\n$/),
      stderr: 'No usage in this period\n',
    });
    expect(await run(home, 'usage', '--app', id, '--env', 'production')).toEqual({
      code: 5,
      stdout: '',
      stderr: 'There is no environment production; case matters, and there is Production\n',
    });
    expect((await run(home, 'audit', '--action', 'key', '--from', '1h')).stdout).toMatch(/ key\.created /);
    expect(await run(home, 'envs', 'create', 'Production', '--app', id)).toMatchObject({ code: 6, stdout: '' });
    expect(await run(home, 'apps', 'delete', 'Shop')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'Cannot delete an application without --yes: standard input is not a terminal\n',
    });
    expect(await run(home, 'apps', 'delete', 'Shop', '--yes')).toMatchObject({ code: 0, stdout: '' });
    expect(await run(home, 'apps', 'delete', 'Shop', '--yes')).toEqual({
      code: 5,
      stdout: '',
      stderr: 'There is no application Shop\n',
    });
    expect(await run(home, 'apps', 'lst')).toMatchObject({ code: 2, stdout: '' });
    expect((await run(home, 'apps', 'list', '--url', 'http://127.0.0.1:1')).code).toBe(3);
    expect(await run(home, 'logout')).toEqual({ code: 0, stdout: '', stderr: `Signed out of ${url}\n` });
    expect((await run(home, 'apps', 'list', '--url', url)).code).toBe(3);
  });

  test('the command line prints the links of an invitation and of a password reset', async () => {
    const home = await signedIn();
    const link = `${url}/connect/invitation#[\\w-]{43}`;
    const made = await run(home, 'users', 'create', 'ada@example.com', '--name', 'Ada');
    expect(made.stdout).toMatch(new RegExp(`^ {2}Invitation +${link}$`, 'm'));
    const again = await run(home, 'users', 'reset-link', 'ada@example.com', '--end-sessions');
    expect(again.stdout).toMatch(new RegExp(`^ {2}Url +${link}$`, 'm'));
    expect(again.stderr).toBe('Url: shown only once; keep it in a safe place\n');
    expect((await run(home, 'users', 'withdraw-link', 'ada@example.com')).code).toBe(0);
    expect((await run(home, 'users', 'withdraw-link', 'ada@example.com')).code).toBe(5);
  });

  test('the command line reports an unreachable or untrusted server on one line', async () => {
    const home = newHome({ FLAGMETER_TOKEN: 'x' });
    expect(await run(home, 'apps', 'list', '--url', 'http://127.0.0.1:1')).toEqual({
      code: 7,
      stdout: '',
      stderr: 'Cannot reach http://127.0.0.1:1: connection refused\n',
    });
    const tls = new URL('../http/support/tls/', import.meta.url).pathname;
    const args = ['--tls-cert', `${tls}cert.pem`, '--tls-key', `${tls}key.pem`];
    const secure = await startBinary({ args });
    const refused = await run(home, 'apps', 'list', '--url', `https://${secure.http}`);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^Cannot trust https:\/\/[\d.:]+: DEPTH_ZERO_SELF_SIGNED_CERT; .*\n$/);
    const trusting = newHome({ FLAGMETER_TOKEN: 'x', NODE_EXTRA_CA_CERTS: `${tls}cert.pem` });
    expect(await run(trusting, 'apps', 'list', '--url', `https://${secure.http}`)).toMatchObject({
      code: 3,
      stderr: 'The server rejects the token in FLAGMETER_TOKEN\n',
    });
    await stop(secure);
  });

  test('the command line exits without an error when the reader of its output stops reading', async () => {
    const { env } = newHome();
    const ended = async (command: string) => {
      const argv = ['-c', `exec 3>&1; ("${binaryPath}" ${command}; echo "exit $?" >&3) 2>&1 | true`];
      return (await runProgram('bash', argv, env)).stdout;
    };
    expect(await ended('help serve')).toBe('exit 0\n');
    expect(await ended('completion bash')).toBe('exit 0\n');
    expect(await ended('apps lst')).toBe('exit 2\n');
    expect(await ended('apps lst 2>/dev/full')).toBe('exit 2\n');
  });
});

describe('the command line on a terminal', () => {
  test('the command line asks for a secret without showing it', async () => {
    const home = newHome();
    const command = `login --url ${url} --client-id ${credentials.clientId}`;
    const shown = await onTerminal(home, command, [['Client secret: ', `${credentials.clientSecret}\r`]]);
    expect(shown).toBe(`Client secret: \nSigned in to ${url} as First API key\nexit 0\n`);
  });

  test('the command line prints bold titles on a terminal, unless NO_COLOR is set', async () => {
    const home = await signedIn();
    expect(await onTerminal(home, 'teams list', [])).toMatch(/^\u001b\[1mNAME .* ID\u001b\[0m\nDefault .* team_/);
    const plain = { ...home, env: { ...home.env, NO_COLOR: '1' } };
    expect(await onTerminal(plain, 'teams list', [])).toMatch(/^NAME .* ID\nDefault .* team_/);
  });

  test('the command line asks for confirmation before it deletes something', async () => {
    const home = await signedIn();
    await run(home, 'apps', 'create', 'Asked');
    const no = await onTerminal(home, 'apps delete Asked', [['[y/N] ', 'n\r']]);
    expect(no).toMatch(/^Delete the application Asked .* \[y\/N\] n\nNothing was deleted\nexit 1\n$/);
    const yes = await onTerminal(home, 'apps delete Asked', [['[y/N] ', 'y\r']]);
    expect(yes).toMatch(/\[y\/N\] y\nDeleted the application Asked .*\nexit 0\n$/);
  });
});

describe('a session opened by a browser on another machine', () => {
  test('login --device shows a code, and entering the code in a browser opens the session', async () => {
    const home = newHome();
    const child = spawn(binaryPath, ['login', '--device', '--url', url], { env: home.env });
    const ended = once(child, 'close');
    const [, code = ''] = await shownBy(child, /^ {2}http.*\n {2}(\S+)\n/m);
    const elsewhere = new TestBrowser(service.http, '127.0.0.1');
    const { adminEmail: email, adminPassword: password } = credentials;
    await elsewhere.open(`/connect/device?user_code=${code}`);
    await elsewhere.submit({ email, password, action: 'sign-in' });
    await elsewhere.submit({ action: 'continue' });
    expect(await ended).toEqual([0, null]);
    expect((await run(home, 'whoami')).stdout).toMatch(/^ {2}Email +bench@localhost$/m);
  });

  test('Ctrl-C cancels login --device', async () => {
    const home = newHome();
    const child = spawn(binaryPath, ['login', '--device', '--url', url], { env: home.env });
    const ended = once(child, 'close');
    await shownBy(child, /press Ctrl-C to cancel\n/);
    child.kill('SIGINT');
    expect(await ended).toEqual([null, 'SIGINT']);
    expect((await run(home, 'whoami', '--url', url)).code).toBe(3);
  });
});

describe('a session opened by a browser', () => {
  test('several commands renew a browser session simultaneously, and logout ends the session', async () => {
    const seen = `${freshDirectory()}/seen`;
    const browser = `${freshDirectory()}/browser`;
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > "${seen}"\n`);
    chmodSync(browser, 0o755);
    const home = newHome({ BROWSER: browser });
    const child = spawn(binaryPath, ['login', '--url', url], { env: home.env });
    const ended = once(child, 'close');
    const [, address = ''] = await shownBy(child, /^ {2}(http.*)\n\n/m);
    expect(await signInAt(address, credentials)).toContain('You are signed in.');
    expect(await ended).toEqual([0, null]);
    expect(readFileSync(seen, 'utf8')).toBe(address);

    expire(home);
    const all = await Promise.all(Array.from({ length: 6 }, () => run(home, 'users', 'list', '--json')));
    expect(all.map(({ code, stderr }) => [code, stderr])).toEqual(Array.from({ length: 6 }, () => [0, '']));
    expire(home);
    expect(await run(home, 'users', 'list')).toMatchObject({ code: 0, stderr: '' });

    expect((await run(home, 'logout')).code).toBe(0);
    expect(JSON.parse(readFileSync(home.credentialsFile, 'utf8'))).toEqual({ current: null, servers: {} });
  });
});
