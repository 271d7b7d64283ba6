/** Provides LMDB's add-on. Uses the prebuilt add-on in `native/prebuilt` if it fits, and otherwise compiles one. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Compilers, compileLmdb, compilersFor, isNative } from './lmdb-compiler.ts';
import { digestInputs, lmdb, root } from './lmdb-sources.ts';
import { note } from './note.ts';

/** Platforms whose add-on is part of the repository. `scripts/prebuilt-addons.ts` compiles them. */
export const prebuiltTargets = ['linux-x64', 'linux-arm64'] as const;

export const prebuiltAddon = (target: string) => join(root, 'native/prebuilt', `${target}.node`);
export const prebuiltRecord = (target: string) => join(root, 'native/prebuilt', `${target}.json`);

/** Describes how a prebuilt add-on was built. */
export interface PrebuiltRecord {
  /** Result of `digestInputs`. */
  readonly inputs: string;
  /** Result of `readVersions`. */
  readonly compiler: string;
}

/**
 * Copies the prebuilt add-on, or compiles one. Reuses a compiled add-on if its inputs and compilers are the same.
 * @param target platform, as in `build.ts`
 * @returns the path of the add-on
 * @throws {Error} if it must be compiled, and tools are missing or fail
 */
export async function buildLmdb(target: string): Promise<string> {
  const folder = join(root, 'dist/lmdb', target);
  const addon = join(folder, 'lmdb.node');
  const stamp = join(folder, 'stamp');
  const compilers = compilersFor(target);
  const inputs = digestInputs();
  const wanted = JSON.stringify([inputs, compilers.cc, compilers.cxx]);
  const reason = whyCompile(target, inputs, compilers);
  if (reason === undefined) {
    replaceFile(prebuiltAddon(target), addon);
    rmSync(stamp, { force: true });
  } else if (!(existsSync(addon) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted)) {
    await compileLmdb(folder, addon, compilers, reason);
    writeFileSync(stamp, wanted);
    note(addon.slice(root.length + 1));
  }
  // lmdb prefers an add-on at this path to the installed add-on.
  if (isNative(target)) replaceFile(addon, join(lmdb, 'build/Release/lmdb.node'));
  return addon;
}

/** Returns the reason not to use the prebuilt add-on; `undefined` if it fits. */
function whyCompile(target: string, inputs: string, { chosen, variables }: Compilers): string | undefined {
  if (chosen) return `${variables.join(' or ')} is set`;
  if (!existsSync(prebuiltRecord(target))) return `native/prebuilt has no add-on for ${target}`;
  const record: PrebuiltRecord = JSON.parse(readFileSync(prebuiltRecord(target), 'utf8'));
  return record.inputs === inputs ? undefined : `native/prebuilt/${target}.node was built from other sources or flags`;
}

/** Replaces a file by a new one. A process that has loaded the previous file is not affected. */
function replaceFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, `${to}.new`);
  renameSync(`${to}.new`, to);
}
