/**
 * `npm run package`: builds the packages in dist/packages. Each target has a tar.gz, a .deb, an SBOM and the notices of
 * third-party code. There are also the Helm chart, the Containerfile, and SHA256SUMS of all files. Two runs on one
 * commit produce the same bytes. The command prints the version, the commit, and the command that tags the release.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { formatSource, formatTagging, readCommit } from './commit.ts';
import { readEpoch } from './epoch.ts';
import { makePackages } from './packages.ts';
import { isTarget, type Target, targets } from './targets.ts';

const usage = `npm run package [-- --target TARGET …] [--out DIR]

  --target TARGET   ${Object.keys(targets).join(' or ')}; all that are named, or both
  --out DIR         where the packages go: dist/packages
`;

const root = join(import.meta.dirname, '../..');
const here = `${process.platform}-${process.arch}`;

/** @throws {Error} for an unknown option or target */
function read(argv: readonly string[]): { readonly out: string; readonly wanted: readonly Target[] } | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      help: { type: 'boolean' },
      out: { type: 'string', default: join(root, 'dist/packages') },
      target: { type: 'string', multiple: true, default: Object.keys(targets) },
    },
  });
  if (values.help) return undefined;
  const wanted = values.target.filter(isTarget);
  const unknown = values.target.find((name) => !isTarget(name));
  if (unknown !== undefined) throw new Error(`Cannot build packages for ${unknown}\n\n${usage}`);
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
    const commit = readCommit(root);
    console.log(`Packaging ${formatSource(version, commit)}`);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const builds = wanted.map((target) => ({ target, executable: build(target) }));
    const made = makePackages({ root, builds, version, epoch: readEpoch(root, commit), out });
    for (const file of made) console.log(file);
    console.log(`Packaged ${formatSource(version, commit)}\n${formatTagging(version, commit)}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
