import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { packagesOf, root } from './fixture.ts';
import { itInMachine, runInMachine } from './machine.ts';

/** Returns the shell commands of a code block in docs/install.md that begins with `first`. */
function commandsOf(first: string): string {
  const document = readFileSync(join(root, 'docs/install.md'), 'utf8');
  const blocks = [...document.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands!);
  const block = blocks.find((commands) => commands.startsWith(first));
  if (block === undefined) throw new Error(`docs/install.md has no commands that begin with ${first}`);
  return block.replaceAll('VERSION', '1.2.3');
}

itInMachine('a user who follows the docs word for word gets a running server', () => {
  const packages = packagesOf('1.2.3');
  const scripts = {
    'sums.sh': commandsOf('sha256sum'),
    'deb.sh': commandsOf('apt-get'),
    'try.sh': commandsOf('(umask'),
    'install.sh': commandsOf('useradd'),
  };
  for (const [name, commands] of Object.entries(scripts)) writeFileSync(join(packages, name), commands);
  const { said, output } = runInMachine('newcomer.sh', packages);
  expect(said, output).toEqual(expected);
});

const prepared = expect.stringContaining('The store is prepared in /var/lib/flagmeter. These credentials');

/** The expected lines in the output of `newcomer.sh`, in this order. */
const expected = {
  sums: 'flagmeter-1.2.3-linux-x64.tar.gz: OK flagmeter_1.2.3-1_amd64.deb: OK ',
  'deb-prepared': prepared,
  'deb-ready': 'HTTP/1.1 200 OK',
  'deb-enabled': 'enabled',
  'deb-manual': 'flagmeter (1) - OAuth tokens and durable usage telemetry for feature flags',
  'deb-left': '',
  'try-ready': 'HTTP/1.1 200 OK',
  'try-credentials': '600',
  'tar-prepared': prepared,
  'tar-ready': 'HTTP/1.1 200 OK',
  'tar-user': 'flagmeter',
  'tar-completes': 'apps api-keys ',
  done: 'yes',
};
