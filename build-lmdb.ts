/**
 * Builds LMDB's add-on from the source that lmdb brings, in its "data v1" flavour: LMDB as its authors wrote it.
 *
 * The add-on that npm installs holds a rewritten free list, which refuses some commits for ever once many pages were freed
 * (MDB_BAD_TXN, "reserved freelist had a data entry with zero-size"): a service that rolls old buckets up meets that.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';

const root = import.meta.dir;
const lmdb = join(root, 'node_modules/lmdb');
const library = join(lmdb, 'dependencies/lmdb-data-v1/libraries/liblmdb');
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
const sources = [
  ...binding.map((name) => join(lmdb, 'src', `${name}.cpp`)),
  join(library, 'mdb.c'),
  join(library, 'midl.c'),
  join(lz4, 'lz4.c'),
];

/** What lmdb's own binding.gyp compiles with, without the parts that only V8 can run. */
const flags = [
  '-O3',
  '-w',
  '-fPIC',
  '-fvisibility=hidden',
  '-DMDB_MAXKEYSIZE=0',
  '-DMDB_USE_ROBUST',
  '-DNAPI_DISABLE_CPP_EXCEPTIONS',
  '-DBUILDING_NODE_EXTENSION',
];

/**
 * Compiles the add-on, unless that was done before with the same sources and flags.
 * @param target as in `build.ts`; the compilers are those of `CC` and `CXX`, else `gcc` and `g++`
 * @param native whether the add-on is for this machine, so that Node, too, is to find it
 * @returns its path
 * @throws {Error} when there is no compiler, or it fails
 */
export async function buildLmdb(target: string, native: boolean): Promise<string> {
  const folder = join(root, 'dist/lmdb', target);
  const addon = join(folder, 'lmdb.node');
  const stamp = join(folder, 'stamp');
  const { CC = 'gcc', CXX = 'g++' } = process.env;
  const { version } = JSON.parse(readFileSync(join(lmdb, 'package.json'), 'utf8')) as { version: string };
  const wanted = [version, CC, CXX, ...flags].join(' ');
  if (!(existsSync(addon) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted)) {
    mkdirSync(join(folder, 'include'), { recursive: true });
    // One source includes this header of Node without a use for it; those of Node-API have none of the name.
    writeFileSync(join(folder, 'include/node_version.h'), '');
    await compile(folder, addon, CC, CXX);
    writeFileSync(stamp, wanted);
    console.error(addon.slice(root.length + 1));
  }
  if (native) offerToNode(addon);
  return addon;
}

async function compile(folder: string, addon: string, cc: string, cxx: string): Promise<void> {
  const includes = [
    join(folder, 'include'),
    dirname(createRequire(join(lmdb, 'package.json')).resolve('node-addon-api/package.json')),
    join(root, 'node_modules/node-api-headers/include'),
    lz4,
    library,
  ].map((path) => `-I${path}`);
  const objects = sources.map((source) => join(folder, `${basename(source)}.o`));
  const waiting = sources.map((source, index) => [source, objects[index]!] as const);
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [source, object] = next;
      const compiler = source.endsWith('.cpp') ? [cxx, '-std=c++17'] : [cc];
      await run([...compiler, ...flags, ...includes, '-c', source, '-o', object]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const linking =
    process.platform === 'darwin'
      ? ['-undefined', 'dynamic_lookup']
      : ['-static-libstdc++', '-static-libgcc', '-lpthread'];
  await run([cxx, '-shared', '-s', '-o', addon, ...objects, ...linking]);
}

/** lmdb looks for an add-on here before it takes the one that npm installed. */
function offerToNode(addon: string): void {
  const folder = join(lmdb, 'build/Release');
  mkdirSync(folder, { recursive: true });
  copyFileSync(addon, join(folder, 'lmdb.node'));
}

function run([command = '', ...args]: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', () =>
      reject(
        new Error(
          `Cannot run ${command}, which LMDB is compiled with: install it (Debian: apt-get install gcc g++), or name another in CC and CXX`,
        ),
      ),
    );
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`Cannot compile LMDB: ${command} ended with ${code}`)),
    );
  });
}
