import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from './checksums.ts';
import { completionScripts } from './completions.ts';
import { manPages } from './man-pages.ts';
import { noticesText } from './notices.ts';
import { listComponents } from './parts.ts';
import { sbomText } from './sbom.ts';
import type { Target } from './targets.ts';

/** Contents that every kind of package has. Each kind puts them in different places. */
export interface Contents {
  readonly target: Target;
  readonly root: string;
  readonly version: string;
  readonly epoch: number;
  /** Path of the executable. */
  readonly executable: string;
  /** Manual pages by file name, such as `flagmeter.1`. */
  readonly manPages: Readonly<Record<string, string>>;
  readonly completions: Readonly<Record<'bash' | 'zsh' | 'fish', string>>;
  readonly notices: string;
  readonly sbom: string;
}

export function listContents(of: {
  readonly root: string;
  readonly target: Target;
  readonly executable: string;
  readonly version: string;
  readonly epoch: number;
}): Contents {
  const { root, target, executable, version, epoch } = of;
  const parts = listComponents(root, executable);
  return {
    target,
    root,
    version,
    epoch,
    executable,
    manPages: manPages({ version, epoch }),
    completions: completionScripts(),
    notices: noticesText(parts),
    sbom: sbomText(parts, { ...of, sha256: sha256Of(executable) }),
  };
}

/** Returns the text of a file of the project. */
export function projectFile({ root }: Contents, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
