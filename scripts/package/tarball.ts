import { join } from 'node:path';
import { runTool } from './run-tool.ts';
import { type PackageFile, stage } from './stage.ts';

/** Builds a tar.gz with one directory. Its entries are sorted, owned by root, and have the same time. */
export function makeTarball(wanted: {
  readonly folder: string;
  readonly files: readonly PackageFile[];
  readonly epoch: number;
  readonly scratch: string;
  readonly file: string;
  readonly quick: boolean;
}): void {
  const { folder, files, epoch, scratch, file, quick } = wanted;
  stage(join(scratch, folder), files);
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${epoch}`, '--format=ustar'];
  runTool(
    'tar',
    [...same, `--use-compress-program=gzip -n ${quick ? '-1' : '-9'}`, '-cf', file, '-C', scratch, folder],
    'tar',
  );
}
