import { join } from 'node:path';
import { gzip } from './compress.ts';
import { type Contents, projectFile } from './contents.ts';
import { folderFiles } from './folder-files.ts';
import type { PackageFile } from './tar.ts';

/** Returns the files of the package with their locations on Debian and Ubuntu. */
export function filesOfDeb(contents: Contents): readonly PackageFile[] {
  const { root, executable, manPages, completions, notices, sbom } = contents;
  const doc = 'usr/share/doc/flagmeter';
  return [
    { path: 'usr/bin/flagmeter', content: { sourcePath: executable }, mode: 0o755 },
    { path: 'etc/flagmeter/flagmeter.json', content: projectFile(contents, 'packaging/flagmeter.json') },
    { path: 'lib/systemd/system/flagmeter.service', content: projectFile(contents, 'packaging/flagmeter.service') },
    { path: 'usr/share/bash-completion/completions/flagmeter', content: completions.bash },
    { path: 'usr/share/zsh/vendor-completions/_flagmeter', content: completions.zsh },
    { path: 'usr/share/fish/vendor_completions.d/flagmeter.fish', content: completions.fish },
    {
      path: 'usr/share/lintian/overrides/flagmeter',
      content: projectFile(contents, 'packaging/deb/lintian-overrides'),
    },
    { path: `${doc}/copyright`, content: copyright },
    { path: `${doc}/changelog.Debian.gz`, content: gzipped(changelog(contents)) },
    { path: `${doc}/changelog.gz`, content: gzipped(projectFile(contents, 'CHANGELOG.md')) },
    { path: `${doc}/THIRD-PARTY-NOTICES.gz`, content: gzipped(notices) },
    { path: `${doc}/flagmeter.cdx.json.gz`, content: gzipped(sbom) },
    ...folderFiles(join(root, 'docs'), doc),
    ...Object.entries(manPages).map(([name, page]) => ({
      path: `usr/share/man/man1/${name}.gz`,
      content: gzipped(page),
    })),
  ];
}

/** Compresses a text. */
function gzipped(text: string): Buffer {
  return gzip(Buffer.from(text));
}

/** The copyright file in Debian's machine-readable format. */
const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: flagmeter

Files: *
Copyright: 2026 the flagmeter authors
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
Comment:
 The executable contains parts by others: THIRD-PARTY-NOTICES.gz in this folder
 has their licences, and flagmeter.cdx.json.gz lists them.
`;

/** Returns the changelog of the packaging for Debian. The file `changelog.gz` has the changes of a version. */
function changelog({ version, epoch }: Contents): string {
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000');
  return `flagmeter (${version}-1) unstable; urgency=medium

  * Version ${version}: see changelog.gz for its changes.

 -- flagmeter maintainers <maintainers@flagmeter.example>  ${date}
`;
}
