import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createPackets, ingestMix, requestText } from '../../src/bench/load/packets.ts';
import { startProcess, stop } from '../../test/support/binary.ts';
import { installModules, type ModuleSet, versionIn } from '../../test/support/install-modules.ts';
import { runOnPostgres } from './on-postgres.ts';
import { countChecks, type Peer } from './peer.ts';

/** Modules that the counter needs. */
export const counterModules: ModuleSet = {
  folder: import.meta.dirname,
  name: 'bench-peers',
  file: 'fastify/fastify.js',
};

const key = randomUUID();

/** A counter as a team would write it for its own use. It receives the same packets as flagmeter. */
export const counter: Peer = {
  status: 202,
  uniqueUsers: 'none',
  async start() {
    const modules = await installModules(counterModules);
    const packets = createPackets(ingestMix, key);
    const script = join(import.meta.dirname, 'counter.mjs');
    const requests = (http: string) =>
      packets.map((packet) => ({ text: requestText(packet, http), checks: countChecks(packet) }));
    return runOnPostgres({
      name: `Fastify ${versionIn(modules, 'fastify')} with an upsert`,
      total: 'SELECT sum(checks) AS total FROM usage',
      async start(database) {
        const started = await startProcess('node', [script, modules, database, key], { NODE_ENV: 'production' });
        return { ...started, stop: (signal) => stop(started, signal) };
      },
      requests,
      retried: (http) => requests(http)[0]!,
    });
  },
};
