import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BenchResult } from '../../src/bench/result.ts';
import { freshDirectory, prepare, requireBinary, startBinary, stop } from '../support/binary.ts';
import { runBinary } from '../support/run-binary.ts';

/** Returns the command lines of the processes that contain the given text. */
function processesWith(text: string): string[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const lines = all.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
    } catch {
      return '';
    }
  });
  return lines.filter((line) => line.includes(text) && line.includes('serve'));
}

test('flagmeter bench measures a temporary server, writes a report, and removes the store', async () => {
  const folder = freshDirectory();
  const data = join(folder, 'stores');
  const report = join(folder, 'report.html');
  const { code, stdout, stderr } = await runBinary(['bench', '--small', '--data', data, '--report', report, '--json']);
  expect(stderr).toContain('6/6 base, grpc, 80 %, 1 connection:');
  expect(code).toBe(0);
  const result = JSON.parse(stdout) as BenchResult;
  expect(result.exact).toBe(true);
  const stages = result.measurements.map(({ transport, share = 1, errors }) => [transport, share, errors]);
  expect(stages).toEqual(['http', 'grpc'].flatMap((each) => [1, 0.5, 0.8].map((share) => [each, share, 0])));
  expect(stderr).toMatch(/^6 stages in 1 run: \d+ s, or up to \d+ s on a busy machine\./);
  for (const { packetsPerSecond, share, p99, generatorP99, othersP99 } of result.measurements) {
    expect(packetsPerSecond).toBeGreaterThan(0);
    if (share === undefined) continue;
    expect(generatorP99).toBeGreaterThan(0);
    expect(generatorP99).toBeLessThanOrEqual(p99);
    expect(othersP99).toBeLessThanOrEqual(p99);
  }
  expect(readFileSync(report, 'utf8')).toContain('<h1>flagmeter bench</h1>');
  expect(readdirSync(folder)).toEqual(['report.html']);
  expect(processesWith(data)).toEqual([]);
});

test('flagmeter bench drives a running server in an application that is deleted afterwards', async () => {
  const data = join(freshDirectory(), 'data');
  const { clientId, clientSecret } = await prepare(data);
  const server = await startBinary({ data, args: ['--rate', '0'] });
  const env = { FLAGMETER_CLIENT_ID: clientId, FLAGMETER_CLIENT_SECRET: clientSecret };
  const url = `http://${server.http}`;
  const { code, stdout, stderr } = await runBinary(
    ['bench', '--small', '--url', url, '--grpc', server.grpc, '--json'],
    env,
  );
  expect([code, stderr]).toEqual([0, expect.stringContaining('6/6 running server')]);
  expect((JSON.parse(stdout) as BenchResult).exact).toBe(true);
  const apps = await runBinary(['apps', 'list', '--url', url, '--json'], env);
  expect(JSON.parse(apps.stdout)).toMatchObject({ items: [] });
  await stop(server);
});

test.each([
  ['another machine', ['--url', 'http://flags.example.com'], 'not a loopback address'],
  ['gRPC of another machine', ['--url', 'http://127.0.0.1:1', '--grpc', 'flags.example.com:443'], 'not a loopback'],
  ['TLS', ['--url', 'https://localhost'], 'plain HTTP'],
  ['too little time', ['--time', '5'], 'at least'],
  ['too many connections', ['--connections', '16,10001'], 'from 1 to 10000'],
  ['a folder as the report', ['--report', '/tmp'], 'this is a folder'],
  ['an empty name of the report', ['--report', ''], 'this is a folder'],
  ['a report in a missing folder', ['--report', '/nowhere/report.html'], 'Cannot use --report'],
])('bench refuses %s', async (_, args, message) => {
  const { code, stderr } = await runBinary(['bench', ...args]);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});

test('flagmeter bench reports a folder that cannot be created', async () => {
  const { code, stderr } = await runBinary(['bench', '--data', '/nowhere/stores']);
  expect(stderr).toContain('Cannot create /nowhere/stores for temporary stores');
  expect(code).toBe(1);
});

test('flagmeter bench refuses an existing folder, and leaves it unchanged', async () => {
  const data = join(freshDirectory(), 'data');
  mkdirSync(join(data, 'accounts'), { recursive: true });
  const { code, stderr } = await runBinary(['bench', '--small', '--data', data]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('it exists')]);
  expect(existsSync(join(data, 'accounts'))).toBe(true);
});

test('an interrupted bench reports the completed stages, and leaves neither a process nor a store behind', async () => {
  const folder = freshDirectory();
  const data = join(folder, 'stores');
  const args = ['bench', '--small', '--time', '100', '--data', data, '--report', join(folder, 'report.html')];
  const child = spawn(requireBinary(), args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  await expect.poll(() => processesWith(data)).not.toEqual([]);
  await expect.poll(() => errors).toContain('6 stages');
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(errors).toContain('Interrupted');
  expect(existsSync(data)).toBe(false);
  expect(processesWith(data)).toEqual([]);
});
