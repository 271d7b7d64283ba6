import { randomUUID } from 'node:crypto';
import { createPackets, ingestMix } from '../../src/bench/load/packets.ts';
import { installModules, versionIn } from '../../test/support/install-modules.ts';
import { startUnleash, unleashModules } from '../../test/unleash-server/start-unleash.ts';
import { createBuckets, formatRequest, start, token } from '../unleash.ts';
import { runOnPostgres } from './on-postgres.ts';
import { countChecks, type Peer, type PeerRequest } from './peer.ts';

const frontendToken = `default:production.${'e'.repeat(56)}`;
const unlimited = '1000000000';

/** Total number of flags, and number of flags in each message. */
export const messageFlags = { all: 250, each: 50 };

const settings = {
  INIT_FRONTEND_API_TOKENS: frontendToken,
  DATABASE_POOL_MAX: '20',
  LOG_LEVEL: 'error',
  CLIENT_METRICS_RATE_LIMIT_PER_MINUTE: unlimited,
  FRONTEND_METRICS_RATE_LIMIT_PER_MINUTE: unlimited,
  REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE: unlimited,
  REGISTER_FRONTEND_RATE_LIMIT_PER_MINUTE: unlimited,
  TOKEN_AUTHENTICATION_RATE_LIMIT_PER_MINUTE: unlimited,
  SDK_API_RATE_LIMIT_PER_MINUTE: unlimited,
};

/** An Unleash server that receives metrics of web pages, with the same flags and variants as flagmeter's packets. */
export const unleashFrontend: Peer = unleashPeer({
  status: 200,
  flags: Array.from({ length: ingestMix.features }, (_, n) => `feature-${n}`),
  requests: (http) =>
    createPackets(ingestMix, '').map((packet) => ({
      text: frontendRequest(http, JSON.parse(packet.body).f),
      checks: countChecks(packet),
    })),
});

/** An Unleash server that receives metrics of SDKs, in the same messages as flagmeter. */
export const unleashClient: Peer = unleashPeer({
  status: 202,
  flags: Array.from({ length: messageFlags.all }, (_, n) => `flag-${n}`),
  requests: (http) => messages(http, randomUUID()),
});

/** Returns messages of SDKs to the program at the address `http`. */
export function messages(http: string, run: string): PeerRequest[] {
  return createBuckets(messageFlags.all, messageFlags.each, run).map((message) => ({
    text: formatRequest(message, http),
    checks: countChecks(message),
  }));
}

interface Kind {
  readonly status: number;
  readonly flags: readonly string[];
  readonly requests: (http: string) => readonly PeerRequest[];
}

function unleashPeer({ status, flags, requests }: Kind): Peer {
  return {
    status,
    time: start,
    uniqueUsers: 'none',
    async start() {
      const modules = await installModules(unleashModules);
      return runOnPostgres({
        name: `unleash-server ${versionIn(modules, 'unleash-server')}`,
        total: 'SELECT sum(yes + no) AS total FROM client_metrics_env',
        async start(database) {
          const server = await startUnleash(database.replace(/\?.*/, ''), token, settings);
          return { ...server, http: `127.0.0.1:${server.port}` };
        },
        prepare: `INSERT INTO features (name, project, type) VALUES ${flags.map((name) => `('${name}', 'default', 'release')`)}`,
        requests,
        retried: (http) => requests(http)[0]!,
      });
    },
  };
}

function frontendRequest(http: string, features: Record<string, Record<string, number[]>>): string {
  const toggles = Object.entries(features).map(([feature, { on, off }]) => {
    const yes = on?.[0] ?? 0;
    const no = off?.[0] ?? 0;
    return [feature, { yes, no, variants: { on: yes, off: no } }];
  });
  const body = JSON.stringify({
    appName: 'shop',
    instanceId: 'page',
    bucket: { start, stop: new Date().toISOString(), toggles: Object.fromEntries(toggles) },
  });
  return [
    'POST /api/frontend/client/metrics HTTP/1.1',
    `Host: ${http}`,
    'Origin: https://shop.example.com',
    `Authorization: ${frontendToken}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
