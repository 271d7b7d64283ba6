import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import basePackages from '../../packaging/image-base.json' with { type: 'json' };
import { sha256Of } from './checksums.ts';
import { type Layer, packLayer } from './deb.ts';
import { runTool } from './run-tool.ts';
import { type Target, targets } from './targets.ts';

interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

/**
 * Returns the layers below flagmeter in the image: one for each Debian package that the executable or the health check
 * needs. apt-get downloads the packages once.
 * @throws {Error} if a package cannot be downloaded, or differs from the one in `packaging/image-base.json`
 */
export function readBase(root: string, target: Target, quick: boolean): readonly Layer[] {
  const folder = join(root, 'dist/image-base', target);
  const packages: readonly DebianPackage[] = basePackages[target];
  const isHere = packages.every((one) => existsSync(pathIn(folder, one)));
  if (!isHere) download(folder, packages, targets[target].debian);
  return packages.map((one) => {
    const file = pathIn(folder, one);
    const sum = sha256Of(file);
    if (sum !== one.sha256)
      throw new Error(`Cannot use ${file}: its SHA-256 is ${sum}, and packaging/image-base.json has ${one.sha256}`);
    return packLayer(runTool('dpkg-deb', ['--fsys-tarfile', file], 'dpkg'), quick);
  });
}

const pathIn = (folder: string, { name, version }: DebianPackage) => join(folder, `${name}_${version}.deb`);

/** Downloads packages from the sources of this machine, for any architecture, and without changing the machine. */
function download(folder: string, packages: readonly DebianPackage[], architecture: string): void {
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(folder, 'fetch-'));
  try {
    for (const name of ['lists/partial', 'archives/partial']) mkdirSync(join(scratch, name), { recursive: true });
    const settings = {
      'Dir::State': scratch,
      'Dir::State::Status': '/dev/null',
      'Dir::Cache': scratch,
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
      'APT::Sandbox::User': 'root',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['--option', `${name}=${value}`]);
    const wanted = packages.map(({ name, version }) => `${name}=${version}`);
    runTool('apt-get', [...options, 'update'], 'apt', scratch);
    runTool('apt-get', [...options, 'download', ...wanted], 'apt', scratch);
    for (const one of packages) {
      // apt-get writes the colon after the epoch of a version as `%3a`.
      const file = `${one.name}_${one.version.replace(':', '%3a')}_${architecture}.deb`;
      renameSync(join(scratch, file), pathIn(folder, one));
    }
  } catch (error) {
    const advice = 'If Debian 12 has a newer version, enter its version and SHA-256 in packaging/image-base.json';
    throw new Error(`Cannot download the Debian packages of the image. ${(error as Error).message}. ${advice}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
