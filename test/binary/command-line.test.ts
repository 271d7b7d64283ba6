import { chmodSync, mkdirSync, statSync, truncateSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { helpText } from '../../src/commands/help.ts';
import { binaryPath, freshDirectory, prepare, startBinary, startProcess, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { canMount } from '../support/mount.ts';
import { openSender } from '../support/packet-sender.ts';
import { type ExitResult, runBinary, runProgram } from '../support/run-binary.ts';
import { openShop, readChecks, sendCheck } from '../support/shop.ts';

describe('exit codes', () => {
  const help = { code: 0, stdout: helpText(), stderr: '' };
  const helpOfServe = { ...help, stdout: helpText('serve') };
  const wrong = (stderr: string) => ({ code: 2, stdout: '', stderr });
  const signInFirst =
    'Not signed in to http://127.0.0.1:8080; sign in with: flagmeter login --url http://127.0.0.1:8080\n';
  const version = { code: 0, stdout: expect.stringMatching(/^flagmeter \d+\.\d+\.\d+ \(Bun [\d.]+, \w+ \w+\)\n$/) };

  test.each([
    { args: [], ended: wrong(helpText()) },
    { args: ['help'], ended: help },
    { args: ['--help'], ended: help },
    { args: ['-h'], ended: help },
    { args: ['help', 'serve'], ended: helpOfServe },
    { args: ['serve', '--help'], ended: helpOfServe },
    { args: ['serve', '--workers', '2', '-h'], ended: helpOfServe },
    { args: ['version'], ended: version },
    { args: ['--version'], ended: version },
    { args: ['-v'], ended: version },
    { args: ['apps', 'list', '--url', 'http://127.0.0.1:8080'], ended: { code: 3, stdout: '', stderr: signInFirst } },
    { args: ['serv'], ended: wrong('Unknown command serv; the nearest known one is serve\n') },
    { args: ['--data', 'x'], ended: wrong('Unknown command --data; flagmeter help lists all commands\n') },
    { args: ['init', '--jason'], ended: wrong('Unknown option --jason; the nearest known one is --json\n') },
    {
      args: ['serve', '--port', '80'],
      ended: wrong('Unknown option --port; use --listen HOST:PORT, such as --listen :8080\n'),
    },
    { args: ['version', '--x'], ended: wrong('Unknown option --x; this command takes no options\n') },
    { args: ['--version', '--x=secret'], ended: wrong('Unknown option --x; this command takes no options\n') },
    { args: ['version', 'x'], ended: wrong("Cannot use the argument 'x': this command takes no arguments\n") },
    { args: ['init'], ended: wrong('Cannot use init without --admin-email\n') },
    { args: ['apps', 'lst'], ended: wrong('Unknown command apps lst; the nearest known one is apps list\n') },
    { args: ['login', '--stor'], ended: wrong('Unknown option --stor; the nearest known one is --store\n') },
  ])('the arguments $args end with the expected output and exit code', async ({ args, ended }) => {
    expect(await runBinary(args)).toMatchObject(ended);
  });

  test.each([
    {
      args: ['serve', '--queue-low-packets', '30000'],
      code: 2,
      stderr: /--queue-low-packets 30000: must be below --queue-high-packets, which is 20000/,
    },
    { args: ['serve', '--listen', '0.0.0.0:0'], code: 2, stderr: /0\.0\.0\.0:0 without --auth-url: / },
    { args: ['demo', '--listen', ':0'], code: 2, stderr: /:0 without --auth-url: / },
    {
      args: ['serve', '--listen', '203.0.113.1:80', '--grpc-listen', '127.0.0.1:0'],
      code: 1,
      stderr: /203\.0\.113\.1:80/,
    },
    { args: ['serve', ...freePorts, '--data', '/dev/null/data'], code: 1, stderr: /data directory \/dev\/null\/data/ },
  ])('the arguments $args end with exit code $code', async ({ args, code, stderr }) => {
    expect(await runBinary(args)).toMatchObject({ code, stderr: expect.stringMatching(stderr) });
  });
});

/** Runs `serve` with a temp directory of its own. The directory is mounted with the options `mount` in a namespace. */
function inTempDirectory(mount: string): Promise<ExitResult> {
  const temp = freshDirectory();
  const serve = `TMPDIR="${temp}" exec "${binaryPath}" serve --data "${temp}/data" ${freePorts.join(' ')}`;
  const script = `mount -t tmpfs ${mount} none "${temp}" && ${serve}`;
  const args = ['--mount', '--map-root-user', 'sh', '-c', script];
  return runProgram('unshare', args);
}

describe('the temp directory', () => {
  const must = 'set TMPDIR to a directory with 1 MB of room that can be written to and is not mounted noexec';

  test('the error about a missing temp directory contains its path and the remedy', async () => {
    const result = await runBinary(['serve', '--data', 'data', ...freePorts], { TMPDIR: '/nonexistent' });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('Cannot unpack the LMDB add-on to the temp directory /nonexistent: ');
    expect(result.stderr).toContain(must);
  });

  test.runIf(canMount()).each([
    ['noexec', '-o noexec', 'it is mounted noexec'],
    ['full', '-o size=64k', 'it cannot be written to, or is full'],
  ])('the error about a temp directory that is %s contains the cause and the remedy', async (_what, mount, fault) => {
    const result = await inTempDirectory(mount);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(new RegExp(`^Cannot .* the temp directory /.*: ${fault}; ${must}`));
  });
});

test('a server on all addresses publishes its configured public URL, not the host of a request', async () => {
  const url = 'http://flags.example.com:8080';
  const server = await startBinary({ args: ['--listen', '0.0.0.0:0', '--auth-url', url] });
  const port = server.http.split(':')[1];
  const headers = { host: 'attacker.example' };
  const discovery = await fetch(`http://127.0.0.1:${port}/.well-known/openid-configuration`, { headers });
  expect(await discovery.json()).toMatchObject({ issuer: url, authorization_endpoint: `${url}/connect/authorize` });
  expect(server.stderr()).toContain('passwords and tokens travel without TLS');
  await stop(server);
});

test('a server stops when its terminal is closed', async () => {
  const listen = '--listen 127.0.0.1:0 --grpc-listen 127.0.0.1:0';
  // The ready line is printed only to a pipe.
  const shell = `stty -onlcr; ${binaryPath} serve --data data ${listen} | cat`;
  const terminal = await startProcess('script', ['-qec', shell, '/dev/null']);
  terminal.kill('SIGKILL');
  const asked = () => fetch(`http://${terminal.http}/healthz`);
  await vi.waitFor(() => expect(asked()).rejects.toThrow());
});

describe('flagmeter init', () => {
  test.runIf(canMount())('flagmeter init fails with an error on a full disk', async () => {
    const directory = freshDirectory();
    const command = `mount -t tmpfs -o size=4k none ${directory} && exec ${binaryPath} init --data ${directory}/data --admin-email a@b.example`;
    const ended = await runProgram('unshare', ['--mount', '--map-root-user', 'sh', '-c', command]);
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Cannot write to .*: no space left on device; .*Nothing was changed/),
    });
  });

  test('flagmeter init prints only the credentials, as JSON, and a second init changes nothing', async () => {
    const data = `${freshDirectory()}/data`;
    const args = ['init', '--data', data, '--admin-email', 'a@example.com', '--json'];
    const { code, stdout } = await runBinary(args);
    expect(code).toBe(0);
    const keys = ['adminEmail', 'adminPassword', 'teamId', 'clientId', 'clientSecret'];
    expect(Object.keys(JSON.parse(stdout))).toEqual(keys);
    expect(await runBinary(args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('already prepared'),
    });
    const service = await startBinary({ data });
    const shop = await openShop(service.http, JSON.parse(stdout));
    expect(await sendCheck(service.http, shop.key, 'first')).toBe(202);
    await stop(service);
  });
});

/** Creates an empty data directory with the given permissions. */
function sharedData(mode: number): string {
  const directory = freshDirectory();
  chmodSync(directory, 0o755);
  const data = `${directory}/data`;
  mkdirSync(data);
  chmodSync(data, mode);
  return data;
}

/** Returns a command that runs `serve` as a normal user, in a directory that this user may not write to. */
function asUser(data: string): [command: string, ...args: string[]] {
  const serve = `cd / && exec "${binaryPath}" serve --data "${data}" --listen 127.0.0.1:0 --grpc-listen 127.0.0.1:0`;
  if (process.getuid?.() !== 0) return ['sh', '-c', serve];
  return ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'sh', '-c', serve];
}

describe('flagmeter serve', () => {
  test('serve starts next to a Kubernetes Service named flagmeter, and lists the variables that it ignores', async () => {
    const env = { FLAGMETER_PORT: 'tcp://10.96.0.7:8080', FLAGMETER_SERVICE_HOST: '10.96.0.7' };
    const service = await startBinary({ env });
    expect(service.stderr()).toMatch(/Kubernetes.*"FLAGMETER_PORT","FLAGMETER_SERVICE_HOST"/);
    await stop(service);
  });

  test('serve prints the credentials once, to standard error, if the data directory is empty', async () => {
    const data = `${freshDirectory()}/data`;
    const first = await startBinary({ data });
    expect(first.line).toMatch(/^flagmeter ready http=127\.0\.0\.1:\d+ grpc=127\.0\.0\.1:\d+$/);
    expect(first.stderr()).toMatch(/admin@localhost[\s\S]*client_[\s\S]*fm_secret_/);
    expect(await stop(first)).toEqual({ code: 0, signal: null });
    const second = await startBinary({ data });
    expect(second.stderr()).not.toMatch(/fm_secret_|Password/);
    await stop(second, 'SIGINT');
  });

  test('serve refuses a second process on the same data, and the first process keeps running', async () => {
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    const service = await startBinary({ data });
    const args = ['serve', '--data', data, ...freePorts];
    const refused = await runBinary(args);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`process ${service.pid} is using it`);
    const shop = await openShop(service.http, credentials);
    expect(await sendCheck(service.http, shop.key, 'still')).toBe(202);
    await stop(service);
  });

  test.each(['--listen', '--grpc-listen'])('serve exits with code 1 if an address of %s is in use', async (flag) => {
    const service = await startBinary();
    const taken = flag === '--listen' ? service.http : service.grpc;
    const free = flag === '--listen' ? '--grpc-listen' : '--listen';
    const refused = await runBinary(['serve', flag, taken, free, '127.0.0.1:0']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      new RegExp(
        `^Cannot listen on ${taken}: the address is in use by \\S+ \\(pid ${service.pid}\\); stop it, or choose another`,
        'm',
      ),
    );
    expect(refused.stderr).not.toMatch(/^E /m);
    await stop(service);
  });

  test.each(['--listen', '--grpc-listen'])('serve reports that the host of %s cannot be resolved', async (flag) => {
    const free = flag === '--listen' ? '--grpc-listen' : '--listen';
    const refused = await runBinary(['serve', flag, 'nowhere.invalid:0', free, '127.0.0.1:0']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Cannot listen on nowhere.invalid:0: the host name cannot be resolved\n');
  });

  test.each(['accounts', 'usage'])('serve reports a truncated file of %s, with the remedy', async (name) => {
    const service = await startBinary();
    await stop(service);
    const file = `${service.data}/${name}/data.mdb`;
    truncateSync(file, statSync(file).size / 2);
    const refused = await runBinary(['serve', '--data', service.data, ...freePorts]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(new RegExp(`^Cannot open ${file}: it is truncated after .* from a backup`));
  });

  test('serve runs as a normal user from a read-only directory, without node_modules', async () => {
    const [command, ...args] = asUser(sharedData(0o777));
    const service = await startProcess(command, args);
    expect((await fetch(`http://${service.http}/readyz`)).status).toBe(200);
    expect(await stop(service)).toEqual({ code: 0, signal: null });
  });

  test('serve reports a data directory that its user may not write to', async () => {
    const data = sharedData(0o555);
    const [command, ...args] = asUser(data);
    const ended = startProcess(command, args);
    await expect(ended).rejects.toThrow(`Cannot use the data directory ${data}: permission denied`);
  });

  test('serve responds to requests in flight and keeps accepted packets when it is stopped', async () => {
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    const service = await startBinary({ data });
    const shop = await openShop(service.http, credentials);
    let accepted = 0;
    const senders = Array.from({ length: 8 }, async () => {
      const sender = openSender(service.http);
      const packet = { k: shop.key, e: 'Production', f: { busy: { on: [1] } } };
      while ((await sender.send(packet)) === 202) accepted += 1;
      sender.close();
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await stop(service)).toEqual({ code: 0, signal: null });
    await Promise.all(senders);
    const again = await startBinary({ data });
    expect((await readChecks(again.http, shop)).get('busy')).toBe(accepted);
    await stop(again);
  });

  test('serve stops after the grace period despite an endless request', async () => {
    const service = await startBinary({ args: ['--shutdown-grace', '1'] });
    const [host, port] = service.http.split(':') as [string, string];
    const socket = connect(Number(port), host).on('error', () => {});
    socket.write('POST /api/frontend/telemetry HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await stop(service)).toEqual({ code: 0, signal: null });
    socket.destroy();
  });

  test('serve can give each host its own listener, which responds with 404 to requests for other hosts', async () => {
    const service = await startBinary({ args: ['--metrics-listen', '127.0.0.1:0'] });
    const metrics = /metrics=(\S+)/.exec(service.line)?.[1];
    const status = async (address: string | undefined, path: string) =>
      (await fetch(`http://${address}${path}`, { method: 'POST' })).status;
    expect(await status(service.http, '/api/frontend/telemetry')).toBe(404);
    expect(await status(metrics, '/api/frontend/telemetry')).toBe(400);
    expect(await status(metrics, '/connect/token')).toBe(404);
    expect(await status(service.http, '/connect/token')).toBe(400);
    await stop(service);
  });
});
