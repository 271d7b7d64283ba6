import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Installs the modules of all workspaces. */
const command = 'npm ci --workspaces --include-workspace-root';

/** Workspaces of tests, each with a module that shows whether it is installed. */
const modules = {
  'clients/openfeature': '@openfeature/server-sdk',
  'test/independent': 'kubernetes-models',
  'test/sources': 'unleash-client',
} as const;

/** The workspaces whose tests cannot run, with the reasons. In CI they run, and fail without their modules. */
export const skippedWorkspaces: ReadonlyMap<string, string> = new Map(
  Object.entries(modules)
    .filter(([_, module]) => !existsSync(join(root, 'node_modules', module)))
    .filter(() => process.env['CI'] === undefined)
    .map(([workspace]) => [workspace, `needs the modules of ${workspace} (${command})`]),
);
