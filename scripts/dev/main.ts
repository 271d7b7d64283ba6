/**
 * `npm run dev -- [options of serve]`: builds and starts the server, and rebuilds and restarts it when the sources
 * change.
 */
import { watch } from 'node:fs';
import { join } from 'node:path';
import { RebuildingServer } from './rebuilding-server.ts';

const root = join(import.meta.dirname, '../..');
const server = new RebuildingServer({
  cwd: root,
  build: ['bun', 'build.ts'],
  serve: ['dist/flagmeter', 'serve', ...process.argv.slice(2)],
});

for (const folder of ['src', 'native']) watch(join(root, folder), { recursive: true }, () => void server.rebuild());

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, async () => {
    await server.stop();
    process.exit();
  });

await server.rebuild();
