import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { type Contents, projectFile } from './contents.ts';
import { folderFiles } from './folder-files.ts';
import type { PackageFile } from './tar.ts';
import { type Target, targets } from './targets.ts';

const platformPackage = (target: Target) => `@flagmeter/${target}`;

/**
 * Returns the files of the npm package `flagmeter`, which runs the executable of the platform. npm installs only the
 * optional dependency for the platform, and no package has an install script.
 */
export function filesOfNpm(root: string, version: string): readonly PackageFile[] {
  const folder = join(root, 'packaging/npm');
  const dependencies = (Object.keys(targets) as Target[]).map((target) => [platformPackage(target), version]);
  const manifest = {
    ...described('flagmeter', version, packageJson.description),
    type: 'module',
    bin: { flagmeter: 'flagmeter.js' },
    engines: { node: '>=18.17' },
    optionalDependencies: Object.fromEntries(dependencies),
  };
  return [
    { path: 'package.json', content: json(manifest) },
    { path: 'README.md', content: { sourcePath: join(folder, 'README.md') } },
    { path: 'LICENSE', content: { sourcePath: join(root, 'LICENSE') } },
    { path: 'flagmeter.js', content: { sourcePath: join(folder, 'flagmeter.js') }, mode: 0o755 },
  ];
}

/** Returns the files of the npm package that contains the executable of a platform. */
export function filesOfNpmPlatform(contents: Contents): readonly PackageFile[] {
  const { target, version, executable, notices, sbom } = contents;
  const [os, cpu] = target.split('-');
  const manifest = {
    ...described(platformPackage(target), version, `The executable of flagmeter for ${target}`),
    os: [os],
    cpu: [cpu],
    libc: ['glibc'],
    preferUnplugged: true,
    publishConfig: { access: 'public' },
  };
  return [
    { path: 'package.json', content: json(manifest) },
    { path: 'LICENSE', content: projectFile(contents, 'LICENSE') },
    { path: 'THIRD-PARTY-NOTICES.txt', content: notices },
    { path: 'flagmeter.cdx.json', content: sbom },
    { path: 'flagmeter', content: { sourcePath: executable }, mode: 0o755 },
  ];
}

/** Returns the files of the npm package `@flagmeter/openfeature`, which the build has put into its `dist`. */
export function filesOfOpenFeature(root: string, version: string): readonly PackageFile[] {
  const folder = join(root, 'clients/openfeature');
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return [
    { path: 'package.json', content: json({ ...manifest, version }) },
    { path: 'README.md', content: { sourcePath: join(folder, 'README.md') } },
    ...folderFiles(join(folder, 'dist'), 'dist'),
  ];
}

function described(name: string, version: string, description: string) {
  return { name, version, description, license: packageJson.license };
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
