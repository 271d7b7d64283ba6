import { join } from 'node:path';
import { type Contents, projectFile } from './contents.ts';
import { folderFiles } from './folder-files.ts';
import type { PackageFile } from './tar.ts';

const readme = `# flagmeter

\`./flagmeter demo\` starts a demo. [docs/install.md](docs/install.md) describes how to try and install the server.
`;

/** Returns the files of the archive. They are in one directory, which suits any distribution. */
export function filesOfTarball(contents: Contents): readonly PackageFile[] {
  const { root, executable, manPages, completions, notices, sbom } = contents;
  return [
    { path: 'flagmeter', content: { sourcePath: executable }, mode: 0o755 },
    { path: 'README.md', content: readme },
    { path: 'LICENSE', content: projectFile(contents, 'LICENSE') },
    { path: 'CHANGELOG.md', content: projectFile(contents, 'CHANGELOG.md') },
    { path: 'THIRD-PARTY-NOTICES.txt', content: notices },
    { path: 'flagmeter.cdx.json', content: sbom },
    { path: 'flagmeter.json', content: projectFile(contents, 'packaging/flagmeter.json') },
    { path: 'flagmeter.service', content: projectFile(contents, 'packaging/flagmeter.service') },
    { path: 'completions/flagmeter.bash', content: completions.bash },
    { path: 'completions/_flagmeter', content: completions.zsh },
    { path: 'completions/flagmeter.fish', content: completions.fish },
    ...folderFiles(join(root, 'docs'), 'docs'),
    ...Object.entries(manPages).map(([name, content]) => ({ path: `man/${name}`, content })),
  ];
}
