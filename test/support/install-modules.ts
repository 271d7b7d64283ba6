import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** A folder with a `package.json` and its lock file, whose modules are not dependencies of the project. */
export interface ModuleSet {
  readonly folder: string;
  readonly name: string;
  /** A file that a complete installation has. */
  readonly file: string;
}

/** The folder of the `node_modules` of a set, next to the dependencies of the project, which they can import, too. */
export function getModulesPath({ name }: ModuleSet): string {
  return resolve(import.meta.dirname, '../../node_modules/.cache', name);
}

export function isInstalled(set: ModuleSet): boolean {
  return existsSync(join(getModulesPath(set), 'node_modules', set.file));
}

/** Installs the modules from the npm registry, unless they are there. @returns the folder of their `node_modules` */
export async function installModules(set: ModuleSet): Promise<string> {
  const installed = getModulesPath(set);
  mkdirSync(installed, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(set.folder, name), join(installed, name));
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  if (!isInstalled(set)) await promisify(execFile)('npm', args, { cwd: installed });
  return installed;
}

export function versionIn(installed: string, name: string): string {
  return JSON.parse(readFileSync(join(installed, 'node_modules', name, 'package.json'), 'utf8')).version;
}
