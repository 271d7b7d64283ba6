import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import bunParts from '../../packaging/bun-parts.json' with { type: 'json' };
import { licenceText } from './licence-text.ts';

/** Third-party code in the executable. */
export interface Component {
  readonly name: string;
  readonly version?: string;
  /** SPDX expression of the licence; `undefined` if there are several licences. */
  readonly license?: string;
  readonly url?: string;
  /** Package URL (purl) of the component. */
  readonly purl?: string;
  /** Text of the licence, as its author published it. */
  readonly text?: string;
  readonly parts?: readonly Component[];
}

/**
 * Lists all third-party code in an executable.
 * @param executable its path; a file next to it contains the names of the npm packages
 * @throws {Error} if a package does not declare its licence, or the licence text is missing
 */
export function listComponents(root: string, executable: string): readonly Component[] {
  const folders: string[] = JSON.parse(readFileSync(`${executable}.packages.json`, 'utf8'));
  const packages = [...folders, 'node_modules/node-addon-api', 'node_modules/node-api-headers'].map((folder) =>
    describeNpmPackage(root, join(root, folder)),
  );
  return [...packages, ...listNativeComponents(root), describePasswordList(root), describeBun(root)];
}

function describeNpmPackage(root: string, folder: string): Component {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`${folder}/package.json does not name a licence`);
  return {
    name,
    version,
    license: license.includes(' OR ') && !license.startsWith('(') ? `(${license})` : license,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(homepage === undefined ? {} : { url: homepage }),
    text: licenceText(root, folder, name),
  };
}

/** Lists the C code in the npm package lmdb, and the runtime of the C++ compiler. */
function listNativeComponents(root: string): readonly Component[] {
  const lmdb = join(root, 'node_modules/lmdb/dependencies/lmdb-data-v1/libraries/liblmdb');
  const lz4 = join(root, 'node_modules/lmdb/dependencies/lz4/lib');
  return [
    {
      name: 'LMDB',
      version: versionIn(join(lmdb, 'lmdb.h'), ['MDB_VERSION_MAJOR', 'MDB_VERSION_MINOR', 'MDB_VERSION_PATCH']),
      license: 'OLDAP-2.8',
      url: 'https://www.symas.com/lmdb',
      text: `${readFileSync(join(lmdb, 'COPYRIGHT'), 'utf8')}\n${readFileSync(join(lmdb, 'LICENSE'), 'utf8')}`.trim(),
    },
    {
      name: 'LZ4',
      version: versionIn(join(lz4, 'lz4.h'), ['LZ4_VERSION_MAJOR', 'LZ4_VERSION_MINOR', 'LZ4_VERSION_RELEASE']),
      license: 'BSD-2-Clause',
      url: 'https://lz4.org',
      text: readFileSync(join(lz4, 'LICENSE'), 'utf8').trim(),
    },
    {
      name: 'libstdc++ and libgcc',
      license: 'GPL-3.0-or-later WITH GCC-exception-3.1',
      url: 'https://gcc.gnu.org/onlinedocs/libstdc++/manual/license.html',
    },
  ];
}

/** Returns a version in a C header. @param names constants that form the version @throws {Error} if one is missing */
function versionIn(header: string, names: readonly string[]): string {
  const text = readFileSync(header, 'utf8');
  const numbers = names.map((name) => new RegExp(`#define\\s+${name}\\s+(\\d+)`).exec(text)?.[1]);
  if (numbers.includes(undefined)) throw new Error(`${header} does not define its version as expected`);
  return numbers.join('.');
}

/** Describes the password list in `src/accounts/common-passwords.br`. */
function describePasswordList(root: string): Component {
  return {
    name: 'SecLists (common passwords)',
    license: 'MIT',
    url: 'https://github.com/danielmiessler/SecLists',
    text: readFileSync(join(root, 'packaging/licences/SecLists.txt'), 'utf8').trim(),
  };
}

function describeBun(root: string): Component {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/bun/package.json'), 'utf8'));
  const url = `https://github.com/oven-sh/bun/blob/bun-v${version}/LICENSE.md`;
  return { name: 'Bun', version, license: 'MIT', url, purl: `pkg:github/oven-sh/bun@bun-v${version}`, parts: bunParts };
}
