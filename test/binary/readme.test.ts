import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { cleanUp, freshDirectory, requireBinary } from '../support/binary.ts';

afterAll(cleanUp);

const root = resolve(import.meta.dirname, '../..');
const readme = readFileSync(`${root}/README.md`, 'utf8');

/** The shell commands of a section, a text for each block. */
function commandsOf(heading: string): string[] {
  const section = readme.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands!);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the README', () => {
  test('leads from zero to a counted packet, twice, word for word except the port', async () => {
    requireBinary();
    const directory = freshDirectory();
    symlinkSync(`${root}/dist`, `${directory}/dist`);
    const commands = commandsOf('From zero to a counted packet');
    const address = `127.0.0.1:${await freePort()}`;
    const script = [...commands, 'dist/flagmeter apps list --json', 'kill %1', 'wait']
      .join('\n')
      .replaceAll('127.0.0.1:8080', address);
    const { PATH = '', TMPDIR = '/tmp' } = process.env;
    const env = {
      ...{ PATH, TMPDIR, HOME: directory },
      FLAGMETER_LISTEN: address,
      FLAGMETER_GRPC_LISTEN: '127.0.0.1:0',
      FLAGMETER_URL: `http://${address}`,
    };
    for (const run of [1, 2]) {
      const shell = await promisify(execFile)('bash', ['-ec', script], {
        ...{ cwd: directory, env, timeout: 60_000 },
      });
      expect(shell.stdout).toContain('HTTP/1.1 202');
      expect(shell.stdout).toMatch(new RegExp(`checkout\\s+on\\s+${3 * run}\\s+${2 * run}\\s+${run}`));
      expect(shell.stdout.match(/"name":"Shop"/g)).toHaveLength(1);
    }
    expect(readFileSync(`${directory}/credentials.json`, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  test('runs the service and the tests with one command each', () => {
    const [service, tests] = commandsOf('Run it and test it');
    expect(service).toMatch(/apt-get install -y [a-z+ ]+' && npm ci && npm start\n$/);
    expect(tests).toBe(service!.replace('npm start', 'npm test'));
    expect(readFileSync(`${root}/.ci/run`, 'utf8')).toMatch(/^npm test$/m);
  });
});
