import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { freshDirectory } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { needing } from '../support/needing.ts';
import { root, sharedRelease } from './fixture.ts';

const { describe, test } = needing('dpkg');

describe('the npm packages of a release', () => {
  let out: string;
  /** Folder that was empty before the packages were installed. */
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(() => {
    out = sharedRelease();
    folder = freshDirectory();
    env = { PATH: process.env['PATH'], TMPDIR: freshDirectory(), npm_config_cache: freshDirectory() };
    const files = readdirSync(out).filter((name) => /^flagmeter-(?!chart).*\.tgz$/.test(name));
    const options = ['--offline', '--no-audit', '--no-fund'];
    const packed = files.map((name) => join(out, name));
    execFileSync('npm', ['install', ...options, ...packed], { cwd: folder, env, stdio: 'pipe' });
  }, 300_000);

  /** Starts a program that prints one line of JSON when it is ready. The end of the test ends the whole group. */
  async function startDemo(program: string, args: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
    const child = spawn(program, [...args, 'demo', '--json', ...freePorts], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    onTestFinished(() => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    return { child, url: JSON.parse(line).url };
  }

  test('npx runs the installed executable, and returns its exit code', () => {
    const run = (...args: string[]) => spawnSync('npx', ['flagmeter', ...args], { cwd: folder, env, encoding: 'utf8' });
    expect(run('version').stdout).toContain('linux x64');
    expect(run('unknown-command')).toMatchObject({ status: 2, stderr: expect.stringContaining('unknown-command') });
  });

  test('npx starts a demo that responds to requests, and Ctrl-C stops the demo', async () => {
    const { child, url } = await startDemo('npx', ['flagmeter']);
    expect((await fetch(new URL('/readyz', url))).status).toBe(200);
    // A terminal sends the signal to all processes of the group.
    process.kill(-child.pid!, 'SIGINT');
    await once(child, 'close');
    expect(readdirSync(env['TMPDIR']!).filter((name) => name.startsWith('flagmeter-demo-'))).toEqual([]);
  });

  test('the installed command passes SIGTERM to the executable', async () => {
    const { child, url } = await startDemo(join(folder, 'node_modules/.bin/flagmeter'), []);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('the installed command names the missing package of another platform', () => {
    const { status, stderr } = spawnSync('node', [join(root, 'packaging/npm/flagmeter.js')], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('@flagmeter/linux-') });
  });

  test('the package flagmeter depends on an executable for each platform, with its own version', () => {
    const read = (name: string) => execFileSync('tar', ['-xzOf', join(out, name), 'package/package.json']).toString();
    expect(JSON.parse(read('flagmeter-1.2.3.tgz')).optionalDependencies).toEqual({
      '@flagmeter/linux-arm64': '1.2.3',
      '@flagmeter/linux-x64': '1.2.3',
    });
    expect(JSON.parse(read('flagmeter-linux-x64-1.2.3.tgz'))).toMatchObject({ os: ['linux'], cpu: ['x64'] });
  });

  test('the package @flagmeter/openfeature has the files that npm would pack, and can be imported', () => {
    const listed = execFileSync('tar', ['-tzf', join(out, 'flagmeter-openfeature-1.2.3.tgz')], { encoding: 'utf8' });
    const options = ['pack', join(root, 'clients/openfeature'), '--dry-run', '--json', '--ignore-scripts'];
    const [packed] = JSON.parse(execFileSync('npm', options, { cwd: folder, env, encoding: 'utf8' }));
    const files = listed
      .trim()
      .split('\n')
      .filter((path) => !path.endsWith('/'));
    expect(files.sort()).toEqual(packed.files.map(({ path }: { path: string }) => `package/${path}`).sort());
    const code = "console.log(typeof (await import('@flagmeter/openfeature/server')).flagmeter)";
    const args = ['--input-type=module', '--eval', code];
    expect(execFileSync('node', args, { cwd: folder, encoding: 'utf8' })).toBe('function\n');
  });
});
