import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Contents, projectFile } from './contents.ts';
import { filesOfDeb } from './deb-files.ts';
import { runTool } from './run-tool.ts';
import { type PackageFile, stage } from './stage.ts';

/** Builds a Debian package. */
export function makeDeb(wanted: {
  readonly contents: Contents;
  readonly architecture: string;
  readonly scratch: string;
  readonly file: string;
  readonly quick: boolean;
}): void {
  const { contents, architecture, scratch, file, quick } = wanted;
  const folder = join(scratch, `deb-${architecture}`);
  const files = filesOfDeb(contents);
  stage(folder, files);
  stage(folder, controlFiles(contents, architecture, folder, files));
  // Uses a single thread, because the compressed bytes depend on how threads split the work.
  const options = ['--root-owner-group', '--threads-max=1', ...(quick ? ['-Zgzip', '-z1'] : ['-Zxz'])];
  runTool('dpkg-deb', [...options, '--build', folder, file], 'dpkg', { SOURCE_DATE_EPOCH: `${contents.epoch}` });
}

function controlFiles(
  contents: Contents,
  architecture: string,
  folder: string,
  files: readonly PackageFile[],
): readonly PackageFile[] {
  const paths = files.map(({ path }) => path);
  const bytes = paths.map((path) => readFileSync(join(folder, path)));
  const kib = bytes.reduce((sum, { length }) => sum + Math.ceil(length / 1024), 0);
  const sums = paths.map((path, index) => `${md5(bytes[index]!)}  ${path}\n`);
  const scripts = ['postinst', 'prerm', 'postrm'].map((name) => ({
    path: `DEBIAN/${name}`,
    content: projectFile(contents, `packaging/deb/${name}`),
    mode: 0o755,
  }));
  const conffiles = paths.filter((path) => path.startsWith('etc/')).map((path) => `/${path}\n`);
  return [
    { path: 'DEBIAN/control', content: control(contents, architecture, kib) },
    { path: 'DEBIAN/conffiles', content: conffiles.join('') },
    { path: 'DEBIAN/md5sums', content: sums.filter((line) => !line.includes('  etc/')).join('') },
    ...scripts,
  ];
}

function control(contents: Contents, architecture: string, kib: number): string {
  return projectFile(contents, 'packaging/deb/control')
    .replace('@VERSION@', `${contents.version}-1`)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@INSTALLED_SIZE@', String(kib));
}

/** Returns the MD5 checksum of a file. dpkg compares installed files with it. */
function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}
