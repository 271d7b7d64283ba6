import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { defineConfig } from 'vitest/config';
import { mutants } from './scripts/mutants/table.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { whyNotOnNode } from './test/support/node-engine.ts';
import { installCommand, skipped } from './test/support/packages.ts';
import { patienceMs } from './test/support/patience.ts';
import { whyNoReleaseBefore } from './test/support/release-before.ts';
import { skippedWorkspaces } from './test/support/workspaces.ts';

/** Returns a pattern for the tests of a workspace; an empty list if its modules are missing. */
const ofWorkspace = (workspace: string, names: string) =>
  skippedWorkspaces.has(workspace) ? [] : [`${workspace}/${names}.test.ts`];

/** Tests with published clients of the executable. The clients are made for Node. */
const clientsOnNode = '{openfeature-hooks,otlp-exporters}';

/** Limits that end a test that hangs. They exceed the time limit of each wait, whose error is more specific. */
const limits = { testTimeout: 5 * patienceMs, hookTimeout: 5 * patienceMs, expect: { poll: { timeout: patienceMs } } };

const setupFiles = ['test/support/each-file.ts'];

/** Folders without unit tests. They contain proofs and tests of the executable. */
const otherFolders = ['bench', 'binary', 'browser', 'chaos', 'faults', 'models', 'nodes', 'packages', 'unleash-server'];

/** Files with a test that fails if a rule is removed. */
const findRemovals = new Set(Object.values(mutants).map(({ test }) => test));

/**
 * Tests of nodes in one process with a real PostgreSQL. They wait for PostgreSQL repeatedly, so they are proofs. Tests
 * that detect the removal of a rule are unit tests nevertheless.
 */
const nodeTests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path}`)
  .filter((path) => path.endsWith('.test.ts') && !otherFolders.includes(path.split('/')[1]!))
  .filter((path) => /needing\([^)]*'postgresql'/.test(readFileSync(path, 'utf8')))
  .filter((path) => !findRemovals.has(path));

/**
 * Tests of kills, restarts, upgrades, other programs, and commands that fill or load a store: proofs of the executable.
 */
const slowSystemTests = [
  'test/binary/{alerts,backup,bench,compact,data-directory,demo,documented-commands,import-kills,later-layout}.test.ts',
  'test/binary/{openfeature,otlp,postgres,roll-up-state,scheduled-backup,secrets,webhooks}.test.ts',
  'test/binary/{behind-a-proxy,node-start,prometheus,proxy-paths,release-before,rotation,tls,unleash-proxies}.test.ts',
  'test/browser/{console-large,console-nodes,proxy-restart}.test.ts',
];

/**
 * Tests that search a model, try every response of the API, upgrade stores, or run other programs. They take as long as
 * hundreds of other unit tests.
 */
const slowUnitTests = [
  'test/docs/alerts.test.ts',
  'test/storage/lmdb/layout.test.ts',
  'test/replication/replica.test.ts',
  'test/replication/stream-model.test.ts',
  'test/storage/commit/intake.test.ts',
  'test/management/openapi-responses.test.ts',
  'test/cli/import/exports.test.ts',
  ...ofWorkspace('test/independent', 'openapi-lint'),
  ...ofWorkspace('test/sources', 'unleash-client'),
];

/** Lets `--changed` follow imports of the examples in the docs, which the console imports as text. */
const textFiles = {
  name: 'text-files',
  transform: (code: string, path: string) =>
    path.startsWith(`${import.meta.dirname}/docs/`) ? `export default ${JSON.stringify(code)}` : undefined,
};

/** Directory of temporary files: in memory if 4 GiB are free there. Unit tests create thousands of stores. */
function temporaryFiles(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < 4 * 1024 ** 3 ? tmpdir() : memory;
}

const unit = {
  plugins: [textFiles],
  test: {
    ...limits,
    name: 'unit',
    // Bun's allocator keeps freed memory. Returning it to the system repeatedly took half of the system time.
    env: { TMPDIR: temporaryFiles(), MIMALLOC_PURGE_DELAY: '-1' },
    // The files share a few processes: loading the service and compiling it for each file took a third of the time.
    isolate: false,
    setupFiles,
    include: ['test/**/*.test.ts'],
    exclude: [
      `test/{${otherFolders}}/**`,
      ...nodeTests,
      ...slowUnitTests,
      'test/independent/{bucket,chart}.test.ts',
      `test/sources/${clientsOnNode}.test.ts`,
      ...[...skippedWorkspaces.keys()].map((workspace) => `${workspace}/**`),
    ],
  },
};

/**
 * Slow unit tests, and unit tests of the HTTP engine and the code around it. These tests suffice for a second runtime.
 */
const engine = {
  test: {
    ...unit.test,
    name: 'engine',
    include: [
      'test/{http,grpc,ingest/telemetry,ingest/grpc,console/host,commands,serve}/**/*.test.ts',
      'test/storage/lmdb/mapped-pages.test.ts',
      ...slowUnitTests,
    ],
    exclude: ['test/commands/{completion,postgres-*,scan-usage}.test.ts'],
  },
};

/** Tests that boot machines, or compile a template engine: `npm run test:packages` runs them, and CI does not. */
const longPackageTests = ['test/packages/{arm,image,lifecycle,newcomer,reproducible}.test.ts'];

/** Tests that wait for minutes: `npm run test:alerts` runs them, with the other tests of alerts. */
const longAlertTests = ['test/nodes/lasting-alerts.test.ts'];

/** Tests of the executable. */
const executable = { ...limits, globalSetup: 'test/browser/support/start-chromium.ts', setupFiles };

/** Tests of the pages that everyone sees first. Tests of other pages, attacks and single sign-on are proofs. */
const firstPages = 'test/browser/{console-{addresses,first-run,frame,home,names},sign-in,snippet}.test.ts';

/** Tests of the executable in use: sockets, processes and browsers. */
const system = {
  test: {
    ...executable,
    name: 'system',
    // The files share a few processes, like the unit tests.
    isolate: false,
    include: ['test/binary/**/*.test.ts', firstPages],
    exclude: slowSystemTests,
  },
};

/** All other browser tests, which are part of the proofs. */
const browser = {
  test: {
    ...executable,
    name: 'browser',
    isolate: false,
    include: ['test/browser/**/*.test.ts'],
    exclude: [firstPages, ...slowSystemTests],
  },
};

/**
 * Tests that take minutes: kills, power losses, floods, several machines, models, benchmarks and packages. `npm run
 * test:proofs`
 */
const proofs = {
  test: {
    ...executable,
    name: 'proofs',
    isolate: false,
    include: [
      'test/{bench,chaos,faults,models,nodes,packages}/**/*.test.ts',
      ...nodeTests,
      ...slowSystemTests,
      ...ofWorkspace('test/independent', 'bucket'),
      ...ofWorkspace('test/sources', clientsOnNode),
    ],
    exclude: [...longPackageTests, ...longAlertTests],
  },
};

const packages = {
  test: {
    ...executable,
    name: 'packages',
    include: [...longPackageTests, ...ofWorkspace('test/independent', 'chart')],
  },
};

const alerts = { test: { ...executable, name: 'alerts', include: ['test/{binary,nodes}/*alerts.test.ts'] } };

/** Tests that install a server of Unleash from the npm registry. `npm run test:unleash` */
const unleash = { test: { ...executable, name: 'unleash', include: ['test/unleash-server/*.test.ts'] } };

/** The unit tests use the HTTP engine of their runtime. Bun has a built-in engine. The engine of Node is optional. */
const onBun = process.versions['bun'] !== undefined;
const isCi = process.env['CI'] !== undefined;
/** Prints if vitest is called directly, as `npm test` lists the skipped tests at its end. */
const warn = process.env['OUTCOMES'] === undefined ? console.warn : () => {};
if (!onBun && whyNotOnNode !== undefined)
  warn(`${whyNotOnNode}\nUntil then the unit tests run on Bun only (npm run test:bun).\n`);

if (skipped.length > 0) warn(`Tests that need ${skipped.join(', ')} are skipped: ${installCommand(skipped)}\n`);

for (const [workspace, why] of skippedWorkspaces) warn(`Skipped: ${workspace} ${why}\n`);

if (whyNoReleaseBefore !== undefined)
  warn(`${whyNoReleaseBefore}\nUntil then the tests of upgrades from it are skipped.\n`);

const ofExecutable = [system, browser, proofs, packages, alerts, unleash];

export default defineConfig({
  test: {
    globalSetup: 'test/support/fresh-build.ts',
    sequence: { sequencer: LongestFirst },
    // Bun imports TypeScript itself. With modules transformed by Vite, the tests take a tenth longer.
    experimental: onBun ? { viteModuleRunner: false, nodeLoader: false } : {},
    projects: onBun || isCi || whyNotOnNode === undefined ? [unit, engine, ...ofExecutable] : ofExecutable,
  },
});
