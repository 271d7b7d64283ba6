import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Why the tests of test/sources cannot run; `undefined` when they can. */
export const whyNoSources = [root, join(root, 'test/sources')].some((folder) =>
  existsSync(join(folder, 'node_modules/unleash-client')),
)
  ? undefined
  : 'needs the modules of test/sources (npm install in that folder)';
