import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Installs the modules of test/independent as well. */
const command = 'npm ci --workspaces --include-workspace-root';

/** Why the tests of test/independent cannot run; `undefined` when they can. In CI they run, and fail without their modules. */
export const whyNotIndependent =
  existsSync(join(root, 'node_modules/kubernetes-models')) || process.env['CI'] !== undefined
    ? undefined
    : `needs the modules of test/independent (${command})`;
