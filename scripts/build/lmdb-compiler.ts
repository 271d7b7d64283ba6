/** Patches the sources of LMDB's add-on and compiles them. */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { flags, includes, library, linking, lmdb, patches, root, sources } from './lmdb-sources.ts';

/** Prefixes of gcc's cross-compilers. */
const prefixes: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-linux-gnu-',
  'linux-arm64': 'aarch64-linux-gnu-',
};

/** Debian packages of tools whose package has another name than the tool. */
const debianPackages: Readonly<Record<string, string>> = {
  'x86_64-linux-gnu-gcc': 'gcc-x86-64-linux-gnu',
  'x86_64-linux-gnu-g++': 'g++-x86-64-linux-gnu',
  'aarch64-linux-gnu-gcc': 'gcc-aarch64-linux-gnu',
  'aarch64-linux-gnu-g++': 'g++-aarch64-linux-gnu',
};

export const isNative = (target: string) => target === `${process.platform}-${process.arch}`;

export interface Compilers {
  readonly cc: string;
  readonly cxx: string;
  /** Names of the environment variables that select other compilers. */
  readonly variables: readonly [cc: string, cxx: string];
  /** True if the environment selects a compiler. */
  readonly chosen: boolean;
}

/**
 * Returns the compilers that `CC` and `CXX` select, or `CC_linux_arm64` and `CXX_linux_arm64` for a cross-compilation.
 * The default is gcc.
 */
export function compilersFor(target: string): Compilers {
  const prefix = isNative(target) ? '' : (prefixes[target] ?? '');
  const suffix = isNative(target) ? '' : `_${target.replace('-', '_')}`;
  const variables = [`CC${suffix}`, `CXX${suffix}`] as const;
  const [cc, cxx] = variables.map((name) => process.env[name]);
  return {
    cc: cc ?? `${prefix}gcc`,
    cxx: cxx ?? `${prefix}g++`,
    variables,
    chosen: cc !== undefined || cxx !== undefined,
  };
}

/**
 * Returns the versions of the compiler and its linker, which determine the bytes of the add-on; `undefined` if the
 * tools are missing.
 */
export function readVersions({ cc }: Compilers): string | undefined {
  const [compiler, linker] = ['--version', '-Wl,--version'].map((option) => {
    const { status, stdout } = spawnSync(cc, [option], { encoding: 'utf8' });
    return status === 0 ? stdout.split('\n')[0] : undefined;
  });
  return compiler === undefined ? undefined : `${compiler}, ${linker}`;
}

/**
 * Compiles the add-on.
 * @param folder folder for the patched sources and the object files
 * @param reason why the add-on must be compiled, for an error message
 * @throws {Error} if tools are missing or fail, or a patch does not apply exactly
 */
export async function compileLmdb(folder: string, addon: string, compilers: Compilers, reason: string): Promise<void> {
  checkTools(compilers, reason);
  const patched = join(folder, 'source');
  await patchSources(patched);
  // One source includes this header of Node without using it. The headers of Node-API do not contain it.
  writeFileSync(join(patched, 'node_version.h'), '');
  await compile(folder, addon, compilers);
}

/** @throws {Error} with the names of all missing tools */
function checkTools({ cc, cxx, variables }: Compilers, reason: string): void {
  const missing = [cc, cxx, 'patch'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  if (missing.length === 0) return;
  const names = missing.map((tool) => debianPackages[tool] ?? tool).join(' ');
  throw new Error(
    `Cannot compile the LMDB add-on: ${missing.join(', ')} not found. It must be compiled because ${reason}.\n` +
      `Install the missing tools (Debian: apt-get install ${names}), or set other compilers in ${variables.join(' and ')}.`,
  );
}

/**
 * Copies the files that the patches change, and applies the patches. @throws {Error} if a patch does not apply exactly
 */
async function patchSources(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  for (const patch of patches) {
    for (const [, path = ''] of readFileSync(patch, 'utf8').matchAll(/^\+{3} b\/(.+)$/gm)) {
      const copy = join(folder, path);
      mkdirSync(dirname(copy), { recursive: true });
      if (!existsSync(copy)) copyFileSync(join(lmdb, path), copy);
    }
    const options = ['--strip=1', '--fuzz=0', '--force', '--silent', `--directory=${folder}`];
    await run(
      'patch',
      [...options, `--input=${patch}`],
      `Cannot apply ${relative(root, patch)} to lmdb: its source has changed; adapt the patch`,
    );
  }
}

async function compile(folder: string, addon: string, { cc, cxx }: Compilers): Promise<void> {
  const source = join(folder, 'source');
  const patched = (path: string) => join(source, relative(lmdb, path));
  const options = [
    ...flags,
    `-ffile-prefix-map=${source}=./node_modules/lmdb`,
    ...[source, patched(library), ...includes].map((path) => `-I${path}`),
  ];
  const objects = sources.map((path) => join(folder, `${basename(path)}.o`));
  const waiting = sources.map((path, index) => {
    return [existsSync(patched(path)) ? patched(path) : path, objects[index]!] as const;
  });
  const work = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [path, object] = next;
      const [compiler, ...standard] = path.endsWith('.cpp') ? [cxx, '-std=c++17'] : [cc];
      await run(compiler, [...standard, ...options, '-c', path, '-o', object]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  await run(cxx, ['-shared', '-s', '-o', addon, ...objects, ...linking]);
}

/** Runs a program. @param complaint text of the error if the program fails */
function run(
  command: string,
  args: readonly string[],
  complaint = `Cannot compile LMDB: ${command} failed`,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(complaint))));
  });
}
