import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validation } from '@cyclonedx/cyclonedx-library';
import { beforeAll, expect, test } from 'vitest';
import { licenceText } from '../../scripts/release/licence-text.ts';
import { sbomSpec } from '../../scripts/release/sbom.ts';
import { binaryPath, freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { root, sharedRelease } from './fixture.ts';

const { describe } = needing('dpkg');

interface Component {
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly components?: readonly Component[];
}

/** Returns the name of the npm package in a folder. Nested folders can contain other versions of a package. */
const packageIn = (folder: string) => folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);

const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

describe('the bill of materials and the notices', () => {
  let sbom: string;
  let notices: string;
  let components: readonly Component[];
  /** Names of npm packages in the bill of materials. */
  let listed: readonly string[];

  beforeAll(() => {
    const scratch = freshDirectory();
    const archive = join(sharedRelease(), 'flagmeter-1.2.3-linux-x64.tar.gz');
    execFileSync('tar', ['-xzf', archive, '-C', scratch, '--strip-components=1']);
    sbom = readFileSync(join(scratch, 'flagmeter.cdx.json'), 'utf8');
    notices = readFileSync(join(scratch, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    ({ components } = JSON.parse(sbom) as { components: Component[] });
    listed = components.filter(({ purl }) => purl?.startsWith('pkg:npm/')).map(({ name }) => name);
  }, 300_000);

  test('the bill of materials matches the CycloneDX schema', async () => {
    expect(await new Validation.JsonStrictValidator(sbomSpec.version).validate(sbom)).toBeNull();
  });

  test('the bill of materials lists exactly the bundled and compiled-in parts', () => {
    const folders = json(`${binaryPath}.packages.json`) as string[];
    const read = folders.map(packageIn);
    expect(listed.toSorted()).toEqual([...read, 'node-addon-api', 'node-api-headers'].sort());
    const others = components.map(({ name }) => name).filter((name) => !listed.includes(name));
    expect(others.sort()).toEqual(['Bun', 'LMDB', 'LZ4', 'SecLists (common passwords)', 'libstdc++ and libgcc']);
    const inBun = components.find(({ name }) => name === 'Bun')?.components?.map(({ name }) => name);
    expect(inBun).toContain('JavaScriptCore and WebKit');
  });

  test('the bill of materials lists each dependency, and no development dependency', () => {
    const { dependencies, devDependencies } = json(join(root, 'package.json'));
    expect(listed).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    const forBrowsers = ['@preact/signals', 'preact', 'preact-iso', 'uplot'];
    const compiledIn = ['node-api-headers'];
    expect(Object.keys(devDependencies).filter((name) => listed.includes(name))).toEqual(
      [...forBrowsers, ...compiledIn].sort(),
    );
  });

  test('the bill of materials lists the locked versions', () => {
    const { packages } = json(join(root, 'package-lock.json'));
    const locked = new Set(
      Object.entries<{ version: string }>(packages).map(([folder, { version }]) => `${packageIn(folder)} ${version}`),
    );
    for (const { name, version, purl } of components.filter(({ name }) => listed.includes(name))) {
      expect(locked).toContain(`${name} ${version}`);
      expect(purl).toBe(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    }
  });

  test('the notices contain a licence text for each npm package, and the licences of the other parts', () => {
    const sections = notices.split(/^-{78}$/m).slice(1);
    const sectionOf = (name: string) =>
      sections.find((section) => section.split('\n').some((line) => line.startsWith(`${name} `)));
    for (const name of [...listed, 'LMDB', 'LZ4'])
      expect(sectionOf(name), name).toMatch(/copyright|without warranties/i);
    expect(sectionOf('ignore')).toContain('Copyright (c) 2013 Kael Zhang');
    expect(sectionOf('pg-types')).toContain('Copyright (c) 2014 Brian M. Carlson');
    expect(sectionOf('LMDB')).toContain('The OpenLDAP Public License');
    expect(sectionOf('Bun')).toContain('JavaScriptCore and WebKit (LGPL-2.0-or-later)');
  });
});

describe('the text of a licence', () => {
  const text = 'Permission is granted. THE SOFTWARE IS PROVIDED WITHOUT WARRANTY OF ANY KIND.';

  /** Creates the folder of a package that contains the given files. */
  function packageWith(files: Readonly<Record<string, string>>): string {
    const folder = freshDirectory();
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    return folder;
  }

  test.each(['LICENSE', 'LICENCE.md', 'license.txt', 'LICENSE-MIT', 'COPYING'])(
    'the text of a licence is read from the file %s',
    (name) => {
      expect(licenceText(root, packageWith({ [name]: `${text}\n` }), 'some')).toBe(text);
    },
  );

  test('the text of a licence is read from the section of the README', () => {
    const readme = `# some\n\nWords.\n\n## License\n\n${text}\n\n## More\n\nOther words.\n`;
    expect(licenceText(root, packageWith({ 'README.md': readme }), 'some')).toBe(text);
  });

  test('the licence text of a package without a licence file is read from packaging/licences', () => {
    const project = freshDirectory();
    mkdirSync(join(project, 'packaging/licences'), { recursive: true });
    writeFileSync(join(project, 'packaging/licences/@some-thing.txt'), text);
    expect(licenceText(project, packageWith({}), '@some/thing')).toBe(text);
  });

  test.each([[{}], [{ 'README.md': '# some\n\n## License\n\nMIT\n' }], [{ 'license-checker.js': text }]])(
    'packaging fails without a licence text: %j',
    (files) => {
      expect(() => licenceText(root, packageWith(files), 'some')).toThrow(
        /some is published without its licence text; add it to .*packaging\/licences\/some\.txt/,
      );
    },
  );
});
