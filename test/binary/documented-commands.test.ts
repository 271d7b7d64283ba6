import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { binaryPath, createApplication, freshDirectory, prepare, startBinary, token } from '../support/binary.ts';
import { documents, listBlocks, root } from '../support/docs.ts';
import { patienceMs } from '../support/patience.ts';

/** Runs the shell commands of the docs for users, in their order, against one server. */

/** Blocks that need root, another machine or another program, and the test that runs the block or its commands. */
const runElsewhere: readonly (readonly [document: string, words: string, test: string])[] = [
  ['README.md', '', 'test/packages/npm.test.ts'],
  ['docs/backup.md', 's3://', 'test/binary/scheduled-backup.test.ts'],
  ['docs/cluster.md', '', 'test/commands/postgres-init.test.ts'],
  ['docs/connect.md', 'nginx', 'test/binary/unleash-proxies.test.ts'],
  ['docs/connect.md', 'npm pack', 'test/packages/npm.test.ts'],
  ['docs/import.md', 'psql', 'test/cli/import/exports.test.ts'],
  ['docs/install.md', '', 'test/packages/newcomer.test.ts'],
  ['docs/oauth.md', 'token-exchange', 'test/auth/tokens/token-exchange.test.ts'],
  ['docs/performance.md', '', 'test/binary/bench.test.ts'],
  ['docs/production.md', '', 'test/binary/production.test.ts'],
  ['docs/quickstart.md', '', 'test/binary/quickstart.test.ts'],
];

const forUsers = documents.filter(({ path }) => /^(README|docs\/[^/]+)\.md$/.test(path));
const blocks = forUsers.flatMap(({ path, text }) =>
  listBlocks(text)
    .filter(({ language }) => language === 'sh')
    .map(({ code, line }) => ({ path, line, code })),
);
const findElsewhere = ({ path, code }: { readonly path: string; readonly code: string }) =>
  runElsewhere.find(([document, words]) => path.startsWith(document) && code.includes(words));

const here = blocks.filter((block) => findElsewhere(block) === undefined);

const folder = freshDirectory();
/** Documents whose commands create their application. */
const creating = new Set(['command-line', 'connect']);
const nameOf = ({ path }: { readonly path: string }) => path.replace(/^.*\/|\.md$/g, '');
const env: Record<string, string> = {
  PATH: `${folder}/bin:${process.env['PATH']}`,
  TMPDIR: folder,
  HOME: folder,
  GITHUB_REPOSITORY: 'shop/checkout',
  GITHUB_SHA: '4f1c9b0',
  SLACK_URL: 'https://hooks.example.com/slack',
  TEAMS_URL: 'https://hooks.example.com/teams',
};

/** Files that the commands read. */
const files = {
  'app.js': 'export const answer = 42;\n',
  'etc/flagmeter/otlp-headers': 'api-key: secret\n',
  'github-authorization': 'Bearer secret\n',
  'jira-authorization': 'Basic secret\n',
};

/** Replaces addresses, paths and names. Each document has an application of its own. */
function adapt(code: string, block: { readonly path: string; readonly line: number }): string {
  return code
    .replaceAll(/https:\/\/(flags|auth)\.example\.com(?!:)/g, env['URL']!)
    .replaceAll(/\bShop\b/g, code.includes('APP=$') ? `Shop-${block.line}` : `Shop-${nameOf(block)}`)
    .replaceAll(/\b(Chat|NEWDIR)\b/g, `$1-${block.line}`)
    .replaceAll(/(?<![\w/.])\/(etc|var|backups|run)\//g, `${folder}/$1/`)
    .replaceAll(/\b(DIR|FILE)\b/g, `${folder}/$1`)
    .replaceAll('/var/lib/flagmeter', '/DIR')
    .replaceAll('you@example.com', 'bench@localhost')
    .replaceAll(/client_…/g, env['FLAGMETER_CLIENT_ID']!)
    .replaceAll(/^flagmeter (login|logout).*$/gm, '')
    .replaceAll(/^flagmeter use (\S+).*$/gm, 'export FLAGMETER_APP=$1')
    .replaceAll(/^(flagmeter people forget .*)$/gm, '$1 --yes')
    .replaceAll(/^flagmeter serve /gm, 'flagmeter serve --check --listen 127.0.0.1:0 --grpc-listen 127.0.0.1:0 ')
    .replaceAll(/0\.0\.0\.0:80(80|81)/g, '0.0.0.0:0');
}

async function run(code: string): Promise<string> {
  const options = { cwd: folder, env, timeout: patienceMs };
  return (await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', code], options)).stdout;
}

beforeAll(async () => {
  for (const each of ['bin', 'etc/flagmeter', 'backups', 'var/backups/flagmeter', 'run/secrets'])
    mkdirSync(join(folder, each), { recursive: true });
  writeFileSync(join(folder, 'bin/flagmeter'), `#!/bin/sh\nexec ${binaryPath} "$@"\n`, { mode: 0o755 });
  const credentials = await prepare(join(folder, 'DIR'));
  const { http } = await startBinary({ data: join(folder, 'DIR') });
  env['URL'] = `http://${http}`;
  env['FLAGMETER_URL'] = env['URL'];
  env['FLAGMETER_CLIENT_ID'] = credentials.clientId;
  env['FLAGMETER_CLIENT_SECRET'] = credentials.clientSecret;
  env['TOKEN'] = await token(http, credentials);
  for (const [name, text] of Object.entries({ ...files, 'run/secrets/flagmeter': credentials.clientSecret }))
    writeFileSync(join(folder, name), text);
  const tokens = listBlocks(documents.find(({ path }) => path === 'docs/connect.md')!.text);
  writeFileSync(
    join(folder, 'tokens.txt'),
    tokens.find(({ code }) => code.startsWith('Backend '))!.code.replaceAll('…', 'a'.repeat(20)),
  );
  for (const key of ['cert', 'key'])
    copyFileSync(join(root, `test/http/support/tls/${key}.pem`), join(folder, `etc/flagmeter/${key}.pem`));
  const names = new Set(here.map(nameOf).filter((name) => !creating.has(name)));
  for (const name of names) {
    const application = await createApplication(http, env['TOKEN'], { name: `Shop-${name}` });
    if (name === 'exports') env['APP'] = application;
  }
});

describe('shell commands of the docs', () => {
  test('an existing test runs each block that this test does not run', () => {
    expect(here.length).toBeGreaterThan(20);
    for (const each of runElsewhere) {
      expect(existsSync(join(root, each[2])), each[2]).toBe(true);
      expect(
        blocks.filter((block) => findElsewhere(block) === each),
        each.join(' '),
      ).not.toEqual([]);
    }
  });

  test.each(here)('the commands at $path:$line succeed', async ({ path, line, code }) => {
    const printed = await run(adapt(code, { path, line }));
    const [key] = /fm_be_\S+/.exec(printed) ?? [];
    if (key !== undefined) env['BACKEND_KEY'] = key;
  });
});
