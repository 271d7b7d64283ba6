/**
 * The sources of LMDB's add-on and the flags of its compilers: the npm package lmdb with our patches. Its "data v1"
 * variant contains LMDB as its authors wrote it.
 *
 * The add-on published on npm has a rewritten free list, which rejects all commits after many pages were freed. A
 * service that rolls up old buckets reaches that state: see `native/lmdb/README.md`.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');
export const lmdb = join(root, 'node_modules/lmdb');
export const library = join(lmdb, 'dependencies/lmdb-data-v1/libraries/liblmdb');
const lz4 = join(lmdb, 'dependencies/lz4/lib');

const binding = [
  'lmdb-js',
  'writer',
  'env',
  'compression',
  'ordered-binary',
  'misc',
  'txn',
  'dbi',
  'cursor',
  'v8-functions',
];
/** Our own sources. `try-lock.cpp` locks files, which Node and Bun cannot. `quiet.c` keeps the add-on from printing. */
const own = ['glibc-2.34.c', 'try-lock.cpp', 'quiet.c', 'check-pages.c'].map((name) => join(root, 'native', name));
export const sources = [
  ...binding.map((name) => join(lmdb, 'src', `${name}.cpp`)),
  join(library, 'mdb.c'),
  join(library, 'midl.c'),
  join(lz4, 'lz4.c'),
  ...own,
];

/** The patches to lmdb's sources, in the order in which they apply: see `native/lmdb/README.md`. */
export const patches = ['share-environment', 'check-pages', 'try-lock', 'failed-begin'].map((name) =>
  join(root, 'native/lmdb', `${name}.patch`),
);

/** The compiler flags of lmdb's binding.gyp, without the flags for code that needs V8. */
export const flags = [
  '-O3',
  '-w',
  '-fPIC',
  '-fvisibility=hidden',
  '-fno-builtin-fprintf', // Prevents the compiler from replacing calls: see native/quiet.c.
  '-DMDB_MAXKEYSIZE=0',
  '-DMDB_USE_ROBUST',
  '-DNAPI_DISABLE_CPP_EXCEPTIONS',
  '-DBUILDING_NODE_EXTENSION',
  `-ffile-prefix-map=${root}=.`, // Makes the output independent of the directory.
];

/**
 * Links the C++ runtime statically, so that the machine does not need it. Unused functions are omitted, because they
 * would require a newer glibc (`arc4random`, 2.36).
 */
export const linking =
  process.platform === 'darwin'
    ? ['-undefined', 'dynamic_lookup']
    : [
        '-static-libstdc++',
        '-static-libgcc',
        '-lpthread',
        '-Wl,--gc-sections',
        '-Wl,--exclude-libs,ALL',
        '-Wl,--wrap=fprintf',
      ];

/** Folders of the headers, except for the patched headers. */
export const includes = [
  join(lmdb, 'src'),
  dirname(createRequire(join(lmdb, 'package.json')).resolve('node-addon-api/package.json')),
  join(root, 'node_modules/node-api-headers/include'),
  lz4,
  library,
];

/** Returns the digest of everything that determines the add-on, except for its compilers. */
export function digestInputs(): string {
  const headers = includes.flatMap((folder) => {
    const names = readdirSync(folder).filter((name) => name.endsWith('.h'));
    return names.sort().map((name) => join(folder, name));
  });
  const hash = createHash('sha256').update(JSON.stringify([flags, linking]).replaceAll(root, '.'));
  for (const path of [...sources, ...patches, ...headers])
    hash.update(createHash('sha256').update(readFileSync(path)).digest());
  return hash.digest('hex');
}
