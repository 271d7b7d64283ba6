import { existsSync } from 'node:fs';
import { join } from 'node:path';

const modules = join(import.meta.dirname, '../sources/node_modules/unleash-client');

/** Why the tests of test/sources cannot run; `undefined` when they can. */
export const whyNoSources = existsSync(modules) ? undefined : 'needs the modules of test/sources (npm install there)';
