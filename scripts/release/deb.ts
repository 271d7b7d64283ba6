import { createHash } from 'node:crypto';
import { createAr } from './ar.ts';
import { sha256 } from './checksums.ts';
import { gzip, zstd } from './compress.ts';
import { type Contents, projectFile } from './contents.ts';
import { filesOfDeb } from './deb-files.ts';
import { createTar, type PackageFile, readContent } from './tar.ts';
import { targets } from './targets.ts';

/** Files of a Debian package, packed once and used twice: as the data of the package, and as a layer of the image. */
export interface Layer {
  readonly compressed: Buffer;
  /** SHA-256 of the archive before its compression. */
  readonly diffId: string;
}

export function packLayer(tar: Buffer, quick: boolean): Layer {
  return { compressed: zstd(tar, quick), diffId: sha256(tar) };
}

/** Returns the layer with the files that the Debian package installs. */
export function packInstalled(contents: Contents, quick: boolean): Layer {
  return packLayer(createTar('.', filesOfDeb(contents), contents.epoch), quick);
}

/** Builds a Debian package, as deb(5) describes. */
export function makeDeb(contents: Contents, data: Layer): Buffer {
  const { epoch } = contents;
  const control = gzip(createTar('.', controlFiles(contents), epoch));
  const members = { 'debian-binary': Buffer.from('2.0\n'), 'control.tar.gz': control, 'data.tar.zst': data.compressed };
  return createAr(members, epoch);
}

function controlFiles(contents: Contents): readonly PackageFile[] {
  const files = filesOfDeb(contents).map((file) => ({ path: file.path, bytes: readContent(file) }));
  const kib = files.reduce((sum, { bytes }) => sum + Math.ceil(bytes.length / 1024), 0);
  const settings = files.filter(({ path }) => path.startsWith('etc/'));
  const sums = files.filter((file) => !settings.includes(file)).map(({ path, bytes }) => `${md5(bytes)}  ${path}\n`);
  const scripts = ['postinst', 'prerm', 'postrm'].map((name) => ({
    path: name,
    content: projectFile(contents, `packaging/deb/${name}`),
    mode: 0o755,
  }));
  return [
    { path: 'control', content: control(contents, kib) },
    { path: 'conffiles', content: settings.map(({ path }) => `/${path}\n`).join('') },
    { path: 'md5sums', content: sums.join('') },
    ...scripts,
  ];
}

function control(contents: Contents, kib: number): string {
  return projectFile(contents, 'packaging/deb/control')
    .replace('@VERSION@', `${contents.version}-1`)
    .replace('@ARCHITECTURE@', targets[contents.target].debian)
    .replace('@INSTALLED_SIZE@', String(kib));
}

/** Returns the MD5 checksum of a file. dpkg compares installed files with it. */
function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}
