import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** A folder with a `package.json` and a lock file. Its modules are not dependencies of the project. */
export interface ModuleSet {
  readonly folder: string;
  readonly name: string;
  /** A file whose presence shows that the installation is complete. */
  readonly file: string;
}

/**
 * Returns the folder of a set's modules. It is in the project's `node_modules`, so the modules can import the project's
 * packages.
 */
export function getModulesPath({ name }: ModuleSet): string {
  return resolve(import.meta.dirname, '../../node_modules/.cache', name);
}

export function isInstalled(set: ModuleSet): boolean {
  return existsSync(join(getModulesPath(set), 'node_modules', set.file));
}

/** Installs the modules from the npm registry, unless they are installed. @returns the folder with `node_modules` */
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
