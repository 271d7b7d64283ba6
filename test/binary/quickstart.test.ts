import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { freshDirectory, prepare, requireBinary } from '../support/binary.ts';
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
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs the commands of the tutorial, with only the address changed, and stops the server. */
async function runTutorial(directory: string, address: string): Promise<string> {
  const sections = ['Start a server', 'Count a packet', 'Read the report'];
  const commands = sections.flatMap((section) => readCommands('docs/quickstart.md', section));
  const rotation = 'flagmeter keys rotate Frontend --app Shop --yes';
  const script = [...commands, rotation, 'flagmeter apps list --json', 'kill %1', 'wait %1']
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
  const shell = await promisify(execFile)('bash', ['-ec', script], { cwd: directory, env, timeout: patienceMs });
  return shell.stdout;
}

/** Returns a folder in which someone has followed the README: it has the data directory of another server. */
async function tutorialDirectory(): Promise<string> {
  requireBinary();
  const directory = freshDirectory();
  await prepare(`${directory}/flagmeter-data`);
  symlinkSync(`${root}/dist`, `${directory}/dist`);
  return directory;
}

needing('curl').test(
  'the commands of the tutorial, with only the port changed, count a packet each time they are run in a folder',
  async () => {
    const directory = await tutorialDirectory();
    const address = `127.0.0.1:${await freePort()}`;
    for (const run of [1, 2]) {
      const output = await runTutorial(directory, address);
      expect(output).toContain('HTTP/1.1 202');
      expect(output).toMatch(new RegExp(`checkout\\s+on\\s+${3 * run}\\s+${2 * run}\\s+${run}`));
      expect(output.match(/"name":"Shop"/g)).toHaveLength(1);
    }
    expect(readFileSync(`${directory}/credentials.json`, 'utf8').trim().split('\n')).toHaveLength(1);
  },
);

needing('curl').test('the commands of the tutorial fail if the server does not start', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  onTestFinished(() => void holder.close());
  holder.on('connection', (socket) => socket.destroy());
  const run = runTutorial(await tutorialDirectory(), `127.0.0.1:${port}`);
  await expect(run).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}`);
});

test('the README starts the demo, starts the service and runs the tests with one command each', () => {
  expect(readCommands('README.md', 'Try it in a minute')).toEqual(['npm ci && npm run demo\n']);
  expect(readCommands('README.md', 'Count your own flags')).toEqual(['npm ci && npm start\n']);
  expect(readCommands('README.md', 'Test it')).toEqual(['npm ci && npm test\n']);
  expect(readFileSync(`${root}/.ci/run`, 'utf8')).toMatch(/^npm test /m);
});
