import { defineConfig } from 'vitest/config';
import { whyNotOnNode } from './test/support/node-engine.ts';
import { skipped } from './test/support/packages.ts';
import { whyNoReleaseBefore } from './test/support/release-before.ts';

/**
 * Sockets, processes and browsers on a busy machine: in CI a test that fails once and then passes is reported as retried, and
 * is to be mended. On a developer's machine it fails.
 */
const retry = process.env['CI'] === undefined ? 0 : 1;

const unit = {
  test: {
    name: 'unit',
    include: ['test/**/*.test.ts'],
    exclude: ['test/{binary,browser,faults,bench,models,chaos,packages}/**'],
    testTimeout: 30_000,
    // A PostgreSQL that the tests start needs a while on a busy machine.
    hookTimeout: 60_000,
    retry,
  },
};

/** Those of the unit tests that are about the HTTP engine and what stands next to it: enough for a second runtime. */
const engine = {
  test: {
    ...unit.test,
    name: 'engine',
    include: ['test/{http,grpc,telemetry,console-host,commands}/**/*.test.ts'],
    exclude: ['test/http/openapi-lint.test.ts', 'test/commands/{completion,engine-*,scan-usage}.test.ts'],
  },
};

/** They boot machines, or compile a template engine: `npm run test:packages` runs them, and CI does not. */
const longPackageTests = ['test/packages/{arm,chart,image,lifecycle,newcomer,reproducible}.test.ts'];

/** They wait for minutes: `npm run test:alerts` runs them, with those that do not. */
const longAlertTests = ['test/binary/lasting-alerts.test.ts'];

const system = {
  test: {
    name: 'system',
    include: ['test/{binary,browser,faults,bench,models,chaos,packages}/**/*.test.ts'],
    exclude: [...longPackageTests, ...longAlertTests],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    retry,
  },
};

const packages = {
  test: { ...system.test, name: 'packages', include: longPackageTests, exclude: [] },
};

const alerts = {
  test: { ...system.test, name: 'alerts', include: ['test/binary/*alerts.test.ts'], exclude: [] },
};

/** The unit tests talk to the HTTP engine of the runtime that they run in: Bun has one, Node an optional one. */
const onBun = process.versions['bun'] !== undefined;
if (!onBun && whyNotOnNode !== undefined)
  console.warn(`${whyNotOnNode}\nUntil then the unit tests run on Bun only (npm run test:bun).\n`);

if (skipped.length > 0)
  console.warn(`Tests that need ${skipped.join(', ')} are skipped: apt-get install ${skipped.join(' ')}\n`);

if (whyNoReleaseBefore !== undefined)
  console.warn(`${whyNoReleaseBefore}\nUntil then the tests of upgrades from it are skipped.\n`);

const onNode = [system, packages, alerts];

export default defineConfig({
  test: {
    projects: onBun || whyNotOnNode === undefined ? [unit, engine, ...onNode] : onNode,
  },
});
