/**
 * `npm run release`: builds every file of a release in dist/release. Each target has a tar.gz, a .deb, an npm package
 * and an SBOM. There are also the image for all targets, the Helm chart, the npm packages `flagmeter` and
 * `@flagmeter/openfeature`, the notes, and SHA256SUMS. Two runs on one commit produce the same bytes. The command prints
 * the version, the commit, and the command that tags the release.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { buildOpenFeature } from '../build/openfeature.ts';
import { releaseNotes } from './changelog.ts';
import { formatSource, formatTagging, readCommit } from './commit.ts';
import { readEpoch } from './epoch.ts';
import { makeRelease } from './packages.ts';
import { createProgress } from './progress.ts';
import { isTarget, type Target, targets } from './targets.ts';

const usage = `npm run release [-- --target TARGET …] [--out DIR]

  --target TARGET   ${Object.keys(targets).join(' or ')}; all that are named, or both
  --out DIR         Folder of the release (default dist/release). Its previous content is removed
`;

const root = join(import.meta.dirname, '../..');
const here = `${process.platform}-${process.arch}`;

/** @throws {Error} for an unknown option or target */
function read(argv: readonly string[]): { readonly out: string; readonly wanted: readonly Target[] } | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      help: { type: 'boolean' },
      out: { type: 'string', default: join(root, 'dist/release') },
      target: { type: 'string', multiple: true, default: Object.keys(targets) },
    },
  });
  if (values.help) return undefined;
  const wanted = values.target.filter(isTarget);
  const unknown = values.target.find((name) => !isTarget(name));
  if (unknown !== undefined) throw new Error(`Cannot build a release for ${unknown}\n\n${usage}`);
  return { out: values.out, wanted };
}

/** Builds the executable of a target. @returns its path */
function build(target: Target): string {
  execFileSync(process.execPath, ['build.ts', '--target', target], { cwd: root, stdio: 'inherit' });
  return join(root, target === here ? 'dist/flagmeter' : `dist/flagmeter-${target}`);
}

try {
  const given = read(process.argv.slice(2));
  if (given === undefined) console.log(usage);
  else {
    const { out, wanted } = given;
    const { version } = packageJson;
    const notes = releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
    const commit = readCommit(root);
    const source = formatSource(version, commit);
    console.log(`Building ${source}`);
    const builds = wanted.map((target) => ({ target, executable: build(target) }));
    await buildOpenFeature(root);
    const showProgress = createProgress(process.stdout);
    const onFile = (name: string, number: number, count: number) => showProgress(`Packing ${number}/${count} ${name}`);
    makeRelease({ root, builds, version, epoch: readEpoch(root, commit), notes, out, onFile });
    showProgress(`Packed ${source} in ${out}`);
    console.log(process.stdout.isTTY ? `\n${formatTagging(version, commit)}` : formatTagging(version, commit));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
