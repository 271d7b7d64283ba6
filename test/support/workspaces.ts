import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Command that installs the modules of all workspaces. */
const command = 'npm ci --workspaces --include-workspace-root';

/** Workspaces that tests need, each with a module whose presence shows that the workspace is installed. */
const modules = {
  'clients/openfeature': '@openfeature/server-sdk',
  'test/independent': 'kubernetes-models',
  'test/sources': 'unleash-client',
} as const;

/** Workspaces whose tests are skipped, with the reasons. In CI, such tests run, and fail if modules are missing. */
export const skippedWorkspaces: ReadonlyMap<string, string> = new Map(
  Object.entries(modules)
    .filter(([_, module]) => !existsSync(join(root, 'node_modules', module)))
    .filter(() => process.env['CI'] === undefined)
    .map(([workspace]) => [workspace, `needs the modules of ${workspace} (${command})`]),
);
