import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { freshDirectory, requireBinary } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { patienceMs } from '../support/patience.ts';

const root = resolve(import.meta.dirname, '../..');
/** Returns the shell commands of a section of a document, one text for each code block. */
function readCommands(paper: string, heading: string): string[] {
  const text = readFileSync(`${root}/${paper}`, 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands!);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

needing('curl').test(
  'the commands of the quick start, with only the port changed, count a packet each time they are run',
  async () => {
    requireBinary();
    const directory = freshDirectory();
    symlinkSync(`${root}/dist`, `${directory}/dist`);
    const commands = readCommands('docs/quickstart.md', 'From zero to a counted packet');
    const address = `127.0.0.1:${await freePort()}`;
    const script = [...commands, 'dist/flagmeter apps list --json', 'kill %1', 'wait']
      .join('\n')
      .replaceAll('127.0.0.1:8080', address);
    const { PATH = '', TMPDIR = '/tmp' } = process.env;
    const env = {
      PATH,
      TMPDIR,
      HOME: directory,
      FLAGMETER_LISTEN: address,
      FLAGMETER_GRPC_LISTEN: '127.0.0.1:0',
      FLAGMETER_URL: `http://${address}`,
    };
    for (const run of [1, 2]) {
      const shell = await promisify(execFile)('bash', ['-ec', script], { cwd: directory, env, timeout: patienceMs });
      expect(shell.stdout).toContain('HTTP/1.1 202');
      expect(shell.stdout).toMatch(new RegExp(`checkout\\s+on\\s+${3 * run}\\s+${2 * run}\\s+${run}`));
      expect(shell.stdout.match(/"name":"Shop"/g)).toHaveLength(1);
    }
    expect(readFileSync(`${directory}/credentials.json`, 'utf8').trim().split('\n')).toHaveLength(1);
  },
);

test('the README starts the service and runs the tests with one command each', () => {
  expect(readCommands('README.md', 'Run it')).toEqual(['npm ci && npm start\n']);
  expect(readCommands('README.md', 'Test it')).toEqual(['npm ci && npm test\n']);
  expect(readFileSync(`${root}/.ci/run`, 'utf8')).toMatch(/^npm test /m);
});
