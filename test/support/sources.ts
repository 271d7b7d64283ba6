import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The sources of the project as text, for the tests of the house rules and of the papers. */

export const root = join(import.meta.dirname, '../..');

export interface Source {
  /** From the root of the project, with `/`. */
  readonly path: string;
  readonly lines: readonly string[];
}

export function read(folder: string, ending: RegExp): Source[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => ending.test(name))
    .map((name) => ({
      path: `${folder}/${name}`,
      lines: readFileSync(join(root, folder, name), 'utf8').split('\n'),
    }));
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
/** The folders of the house from the top down: a folder imports from itself and from what is below it. */
export const house = [
  ...['src/main.ts', 'src/commands', 'src/console', 'src/snippet', 'src/console-host'],
  ...['src/grpc', 'src/telemetry', 'src/reports', 'src/identities', 'src/manage', 'src/auth', 'src/ingest'],
  ...[
    'src/backup',
    'src/upkeep',
    'src/ledger',
    'src/cluster',
    'src/commit',
    'src/aggregate',
    'src/statistics',
    'src/webhooks',
    'src/accounts',
    'src/engine',
  ],
  ...[
    'src/admission',
    'src/postgres',
    'src/journal',
    'src/store',
    'src/http',
    'src/cli',
    'src',
    'src/settings',
  ],
];

/** The folder of the house that a file is in. */
export function folderOf(path: string): string {
  return path === 'src/main.ts' ? path : path.split('/').slice(0, -1).slice(0, 2).join('/');
}

/** The imports of files of `src` by files, each with the file that it leads to. */
export function importsOfSrc(sources: readonly Source[]): (Import & { readonly target: string })[] {
  return imports(sources)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map((found) => ({ ...found, target: relative(root, join(root, dirname(found.path), found.specifier)) }))
    .filter(({ target }) => target.startsWith('src/'));
}
