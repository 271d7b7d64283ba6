import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** This module has the sources of the project as text, for the tests of the house rules and of the docs. */

export const root = join(import.meta.dirname, '../..');

export interface Source {
  /** Path from the root of the project, with `/`. */
  readonly path: string;
  readonly lines: readonly string[];
}

export function read(folder: string, ending: RegExp): Source[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => ending.test(name))
    .map((name) => ({ path: `${folder}/${name}`, lines: readFileSync(join(root, folder, name), 'utf8').split('\n') }));
}

export interface Import {
  readonly path: string;
  readonly line: number;
  readonly specifier: string;
}

export function imports(sources: readonly Source[]): Import[] {
  const pattern = /(?:\bfrom |\bimport |\bimport\(|\brequire\()'([^']+)'/g;
  return sources.flatMap(({ path, lines }) =>
    lines.flatMap((text, index) =>
      [...text.matchAll(pattern)].map(([, specifier = '']) => ({ path, line: index + 1, specifier })),
    ),
  );
}
/** The folders of `src` from top to bottom. A file may import from its own folder and from later folders. */
export const house = [
  'src/main.ts',
  'src/commands',
  'src/commands/entries',
  'src/commands/server',
  'src/demo',
  'src/bench',
  'src/serve',
  'src/serve/otlp',
  'src/serve/front',
  'src/serve/config',
  'src/console',
  'src/console/frame',
  'src/console/search',
  'src/console/pages',
  'src/console/pages/activity',
  'src/console/pages/audit',
  'src/console/pages/cleanup',
  'src/console/pages/feature',
  'src/console/pages/experiments',
  'src/console/pages/home',
  'src/console/pages/metrics',
  'src/console/pages/overview',
  'src/console/pages/people',
  'src/console/pages/first-run',
  'src/console/pages/ingest',
  'src/console/pages/server',
  'src/console/pages/settings',
  'src/console/pages/application-settings',
  'src/console/components/chart',
  'src/console/components/choices',
  'src/console/components/resource',
  'src/console/components/form',
  'src/console/components/table',
  'src/console/components',
  'src/console/reader',
  'src/console/address',
  'src/console/text',
  'src/console/api',
  'src/console/docs',
  'src/console/styles',
  'src/console/host',
  'src/cli/import',
  'src/cli/scan',
  'src/cli/sign-in',
  'src/cli',
  'src/management',
  'src/reports',
  'src/reports/exports',
  'src/reports/activity',
  'src/reports/overview',
  'src/reports/verdicts',
  'src/reports/experiments',
  'src/reports/usage',
  'src/reports/statistics',
  'src/auth',
  'src/auth/browser',
  'src/auth/browser/sso',
  'src/auth/browser/forms',
  'src/auth/browser/pages',
  'src/auth/sso',
  'src/auth/factors/passkeys',
  'src/auth/factors',
  'src/auth/oauth',
  'src/auth/cookies',
  'src/webhooks',
  'src/webhooks/formats',
  'src/ingest/host',
  'src/ingest/grpc',
  'src/ingest/formats',
  'src/ingest/formats/unleash',
  'src/ingest/formats/telemetry',
  'src/ingest/snippet',
  'src/ingest/formats/reports',
  'src/ingest/formats/otlp',
  'src/ingest/formats/identities',
  'src/ingest',
  'src/ingest/ledger',
  'src/ingest/admission',
  'src/replication/adoption',
  'src/replication',
  'src/replication/accounts',
  'src/replication/postgres',
  'src/accounts',
  'src/accounts/store',
  'src/storage/backup',
  'src/storage/upkeep',
  'src/storage/commit',
  'src/storage/aggregate',
  'src/storage/journal',
  'src/storage/lmdb',
  'src/bench/load',
  'src/grpc',
  'src/http/openapi',
  'src/http/relay',
  'src/http/outbound',
  'src/http/engines',
  'src/http',
  'src/runtime',
  'src/contract/resources',
  'src/contract/shapes',
  'src/contract',
  'src/contract/settings',
] as const;

const longestFirst = [...house].sort((a, b) => b.length - a.length);

/** Returns the folder of `house` that contains a file; `undefined` if no folder contains it. */
export function findFolder(path: string): (typeof house)[number] | undefined {
  return longestFirst.find((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** Returns the imports between files of `src`, each with the imported file. */
export function importsOfSrc(sources: readonly Source[]): (Import & { readonly target: string })[] {
  return imports(sources)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map((found) => ({ ...found, target: relative(root, join(root, dirname(found.path), found.specifier)) }))
    .filter(({ target }) => target.startsWith('src/'));
}
