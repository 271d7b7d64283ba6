/**
 * Finds the Bun executable of a platform. The build appends the service to it. npm installs the executable for the
 * platform of this machine. The executable for another platform is fetched once from npm. A fetched package must match
 * `package-lock.json`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '../..');

/**
 * @param name npm package of Bun, such as `@oven/bun-linux-aarch64`
 * @returns the path of the executable
 * @throws {Error} if it can be neither found nor fetched, or a fetched package differs from the expected one
 */
export function findRuntime(name: string): string {
  const installed = join(root, 'node_modules', name, 'bin/bun');
  if (existsSync(installed)) return installed;
  const { version, integrity } = expected(name);
  const folder = join(root, 'dist/runtimes', `${name.replace('/', '-')}-${version}`);
  if (!existsSync(folder)) fetchTo(folder, `${name}@${version}`, integrity);
  return join(folder, 'package/bin/bun');
}

function expected(name: string): { readonly version: string; readonly integrity: string } {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const locked = packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`Cannot find the version of ${name}: it is missing from package-lock.json`);
  return locked;
}

function fetchTo(folder: string, wanted: string, integrity: string): void {
  mkdirSync(join(root, 'dist/runtimes'), { recursive: true });
  const scratch = mkdtempSync(join(root, 'dist/runtimes/fetch-'));
  try {
    run('npm', ['pack', '--silent', '--pack-destination', scratch, wanted], `Cannot fetch ${wanted} from npm`);
    const archive = join(scratch, readdirSync(scratch)[0]!);
    const sum = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (sum !== integrity)
      throw new Error(`Cannot use ${wanted}: npm sent ${sum}, and package-lock.json has ${integrity}`);
    run('tar', ['-xzf', archive, '-C', scratch], `Cannot unpack ${wanted}`);
    rmSync(archive);
    renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function run(program: string, args: readonly string[], complaint: string): void {
  const { error, status, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  if (error !== undefined) throw new Error(`${complaint}: ${program} does not start`);
  if (status !== 0) throw new Error(`${complaint}: ${stderr.trim()}`);
}
