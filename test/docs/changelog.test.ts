import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { version } from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };
import { settings } from '../../src/contract/config-schema.ts';

const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');

const releases = Array.from(changelog.matchAll(/^## (.*)$/gm), ([, heading = '']) => heading);

it('the latest release in the changelog is the version of the package', () => {
  expect(releases[0]?.split(' ')[0]).toBe(`[${version}]`);
  expect([lock.version, lock.packages[''].version]).toEqual([version, version]);
});

it('the changelog has a date for every release except the latest, which may be unreleased', () => {
  const [latest, ...earlier] = releases;
  expect(latest).toMatch(/^\[\d+\.\d+\.\d+\] - (\d{4}-\d\d-\d\d|unreleased)$/);
  expect(earlier.filter((release) => !/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(release))).toEqual([]);
});

it('the changelog has at most 80 lines per release and 180 characters per line, with one line for each entry', () => {
  const sections = changelog.split(/^(?=## )/m).slice(1);
  const lines = sections.flatMap((section) => section.trim().split('\n'));
  expect(sections.filter((section) => section.trim().split('\n').length > 80)).toEqual([]);
  expect(lines.filter((line) => line.length > 180 || /^\s+\S/.test(line))).toEqual([]);
});

/** Settings of the first release, which the changelog does not list. */
const first = [
  ...['api-listen', 'auth-listen', 'auth-url', 'base-url', 'batch-packets', 'burst', 'config', 'data'],
  ...['grpc-listen', 'listen', 'log-level', 'max-body', 'max-features', 'max-metrics', 'metrics-listen'],
  ...['metrics-url', 'queue-high-age', 'queue-high-bytes', 'queue-high-packets', 'queue-low-age'],
  ...['queue-low-bytes', 'queue-low-packets', 'rate', 'service-scope', 'shutdown-grace', 'tls-cert'],
  ...['tls-key', 'workers'],
];

it('the changelog mentions every setting that was added after the first release', () => {
  const unnamed = settings
    .map(({ option }) => option)
    .filter((option) => !first.includes(option) && !new RegExp(`--${option}(?![a-z0-9-])`).test(changelog));
  expect(unnamed).toEqual([]);
});
