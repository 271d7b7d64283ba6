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
  test('leads from zero to a counted packet, word for word except the port', async () => {
    requireBinary();
    const directory = freshDirectory();
    symlinkSync(`${root}/dist`, `${directory}/dist`);
    expect(commandsOf('Look at it')).toEqual(['npm ci && npm run build\ndist/flagmeter demo\n']); // See demo.test.ts.
    const commands = commandsOf('From zero to a counted packet');
    const address = `127.0.0.1:${await freePort()}`;
    const script = [...commands, 'kill %1', 'wait'].join('\n').replaceAll('127.0.0.1:8080', address);
    const { PATH = '', TMPDIR = '/tmp' } = process.env;
    const env = {
      ...{ PATH, TMPDIR, HOME: directory },
      FLAGMETER_LISTEN: address,
      FLAGMETER_GRPC_LISTEN: '127.0.0.1:0',
      FLAGMETER_URL: `http://${address}`,
    };
    const shell = await promisify(execFile)('bash', ['-ec', script], {
      cwd: directory,
      env,
      timeout: 60_000,
    });
    expect(shell.stdout).toContain('HTTP/1.1 202');
    expect(shell.stdout).toMatch(/checkout\s+on\s+3\s+2\s+1/);
    expect(shell.stdout).toContain('"name":"Shop"');
  });
});
