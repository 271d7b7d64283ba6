/**
 * Builds LMDB's add-on from the source in the npm package lmdb, in its "data v1" flavour: LMDB as its authors wrote it.
 *
 * The prebuilt add-on of npm has a rewritten free list, which rejects all commits after many pages were freed. A service that
 * rolls up old buckets runs into that: see `native/lmdb/README.md`.
 */
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

const root = join(import.meta.dir, '../..');
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
/** This add-on also locks files, which neither Node nor Bun can do. `quiet.c` keeps it from printing. */
const own = ['glibc-2.34.c', 'try-lock.cpp', 'quiet.c', 'check-pages.c'].map((name) =>
  join(root, 'native', name),
);
const sources = [
  ...binding.map((name) => join(lmdb, 'src', `${name}.cpp`)),
  join(library, 'mdb.c'),
  join(library, 'midl.c'),
  join(lz4, 'lz4.c'),
  ...own,
];

/** The patches to lmdb's sources, in order: see `native/lmdb/README.md`. */
const patches = ['share-environment', 'check-pages', 'try-lock', 'failed-begin'].map((name) =>
  join(root, 'native/lmdb', `${name}.patch`),
);

/** The flags of lmdb's own binding.gyp, without the parts that only V8 can run. */
const flags = [
  '-O3',
  '-w',
  '-fPIC',
  '-fvisibility=hidden',
  '-fno-builtin-fprintf', // Keeps every call a call: see native/quiet.c.
  '-DMDB_MAXKEYSIZE=0',
  '-DMDB_USE_ROBUST',
  '-DNAPI_DISABLE_CPP_EXCEPTIONS',
  '-DBUILDING_NODE_EXTENSION',
  `-ffile-prefix-map=${root}=.`, // Makes the output independent of the directory.
];

/**
 * Compiles the add-on, unless that was done before with the same sources and flags.
 * @param target as in `build.ts`
 * @param native whether the add-on is for this machine, so that Node finds it too
 * @returns its path
 * @throws {Error} if the compiler is missing or fails
 */
export async function buildLmdb(target: string, native: boolean): Promise<string> {
  const folder = join(root, 'dist/lmdb', target);
  const addon = join(folder, 'lmdb.node');
  const stamp = join(folder, 'stamp');
  const compilers = compilersFor(target, native);
  const { cc, cxx } = compilers;
  const { version } = JSON.parse(readFileSync(join(lmdb, 'package.json'), 'utf8')) as { version: string };
  const ours = [...own, ...patches].map((path) => readFileSync(path, 'utf8'));
  const wanted = JSON.stringify([version, cc, cxx, flags, linking, ours]).replaceAll(root, '.');
  if (!(existsSync(addon) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted)) {
    const patched = join(folder, 'source');
    await patchSources(patched, version);
    // One source includes this header of Node without using it. It is missing from Node-API's own headers.
    writeFileSync(join(patched, 'node_version.h'), '');
    await compile(folder, addon, compilers);
    writeFileSync(stamp, wanted);
    console.error(addon.slice(root.length + 1));
  }
  if (native) offerToNode(addon);
  return addon;
}

/** Copies the files named by the patches to a directory and applies the patches. @throws {Error} if one does not apply exactly */
async function patchSources(folder: string, version: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  for (const patch of patches) {
    for (const [, path = ''] of readFileSync(patch, 'utf8').matchAll(/^\+{3} b\/(.+)$/gm)) {
      const copy = join(folder, path);
      mkdirSync(dirname(copy), { recursive: true });
      if (!existsSync(copy)) copyFileSync(join(lmdb, path), copy);
    }
    const options = ['--strip=1', '--fuzz=0', '--force', '--silent', `--directory=${folder}`];
    await run('patch', [...options, `--input=${patch}`], {
      absent:
        'Cannot run patch, which changes the source of LMDB: install it (Debian: apt-get install patch)',
      failed: `Cannot apply ${relative(root, patch)} to lmdb ${version}: its source has changed; adapt the patch`,
    });
  }
}

async function compile(folder: string, addon: string, { cc, cxx, advice }: Compilers): Promise<void> {
  const patched = (path: string) => join(folder, 'source', relative(lmdb, path));
  const includes = [
    join(folder, 'source'),
    patched(library),
    join(lmdb, 'src'),
    dirname(createRequire(join(lmdb, 'package.json')).resolve('node-addon-api/package.json')),
    join(root, 'node_modules/node-api-headers/include'),
    lz4,
    library,
  ].map((path) => `-I${path}`);
  const objects = sources.map((source) => join(folder, `${basename(source)}.o`));
  const waiting = sources.map((source, index) => {
    return [existsSync(patched(source)) ? patched(source) : source, objects[index]!] as const;
  });
  const runCompiler = (compiler: string, args: readonly string[]) =>
    run(compiler, args, {
      absent: `Cannot run ${compiler}, which compiles LMDB: ${advice}`,
      failed: `Cannot compile LMDB: ${compiler} failed`,
    });
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [source, object] = next;
      const [compiler, ...standard] = source.endsWith('.cpp') ? [cxx, '-std=c++17'] : [cc];
      await runCompiler(compiler, [...standard, ...flags, ...includes, '-c', source, '-o', object]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  await runCompiler(cxx, ['-shared', '-s', '-o', addon, ...objects, ...linking]);
}

/** For platforms other than this machine's: prefixes of gcc's compilers, and their Debian packages. */
const crossCompilers: Readonly<Record<string, { readonly prefix: string; readonly debian: string }>> = {
  'linux-x64': { prefix: 'x86_64-linux-gnu-', debian: 'gcc-x86-64-linux-gnu g++-x86-64-linux-gnu' },
  'linux-arm64': { prefix: 'aarch64-linux-gnu-', debian: 'gcc-aarch64-linux-gnu g++-aarch64-linux-gnu' },
};

interface Compilers {
  readonly cc: string;
  readonly cxx: string;
  /** What to do if they are missing. */
  readonly advice: string;
}

/** The compilers: those of `CC` and `CXX`, or `CC_linux_arm64` and `CXX_linux_arm64` for another platform, else gcc's. */
function compilersFor(target: string, native: boolean): Compilers {
  const own = { prefix: '', debian: 'gcc g++' };
  const { prefix, debian } = native ? own : (crossCompilers[target] ?? own);
  const suffix = native ? '' : `_${target.replace('-', '_')}`;
  const { [`CC${suffix}`]: cc = `${prefix}gcc`, [`CXX${suffix}`]: cxx = `${prefix}g++` } = process.env;
  const advice = `install it (Debian: apt-get install ${debian}), or set another compiler in CC${suffix} and CXX${suffix}`;
  return { cc, cxx, advice };
}

/**
 * The C++ runtime is linked statically, so that the machine needs none. Unused parts of it are left out: they would require a newer
 * glibc (`arc4random`, 2.36).
 */
const linking =
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

/** lmdb looks here for an add-on before it uses the one installed by npm. */
function offerToNode(addon: string): void {
  const folder = join(lmdb, 'build/Release');
  mkdirSync(folder, { recursive: true });
  // A process that has loaded the previous one keeps it intact.
  copyFileSync(addon, join(folder, 'lmdb.node.new'));
  renameSync(join(folder, 'lmdb.node.new'), join(folder, 'lmdb.node'));
}

/** Runs a program. @param complaints the errors for a missing program and for its failure */
function run(
  command: string,
  args: readonly string[],
  complaints: { readonly absent: string; readonly failed: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', () => reject(new Error(complaints.absent)));
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(complaints.failed))));
  });
}
