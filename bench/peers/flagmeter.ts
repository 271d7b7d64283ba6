import { randomUUID } from 'node:crypto';
import packageJson from '../../package.json' with { type: 'json' };
import { createPackets, ingestMix, requestText } from '../../src/bench/load/packets.ts';
import { manage, token as signIn, startBinary, stop, usage } from '../../test/support/binary.ts';
import { type Service, startService } from '../service.ts';
import { tokenRequest } from '../tokens.ts';
import { start, token } from '../unleash.ts';
import { countChecks, type Peer, type PeerRequest, type RunningPeer } from './peer.ts';
import { messages } from './unleash.ts';

const hour = 3_600_000;
const serve = ['--rate', '0', '--api-rate', '0', '--token-rate', '0', '--max-features', '10000'];

/** Returns a flagmeter that receives packets of web pages. */
export function packetsTo(binary: string): Peer {
  return {
    status: 202,
    uniqueUsers: 'estimate, ± 2 %',
    async start() {
      const service = await startService(binary, serve);
      const packets = createPackets(ingestMix, service.key);
      const requests = (http: string) =>
        packets.map((packet) => ({ text: requestText(packet, http), checks: countChecks(packet) }));
      return runFlagmeter(binary, service, 'packet', requests, (http) => {
        const { text, checks } = requests(http)[0]!;
        const key = `Idempotency-Key: ${randomUUID()}`;
        return { text: text.replace('\r\nContent-Type', `\r\n${key}\r\nContent-Type`), checks };
      });
    },
  };
}

/** Returns a flagmeter that receives messages of Unleash SDKs. */
export function messagesTo(binary: string): Peer {
  return {
    status: 202,
    time: start,
    uniqueUsers: 'none: messages have no users',
    async start() {
      const service = await startService(binary, serve);
      const path = `/api/v2/applications/${service.applicationId}/keys/adopt`;
      const body = { token, type: 'Backend', environment: 'Production' };
      await manage(service.http, service.accessToken, 'POST', path, 201, body);
      const requests = (http: string) => messages(http, randomUUID());
      return runFlagmeter(binary, service, 'Unleash message', requests, (http) => requests(http)[0]!);
    },
  };
}

/** Returns a flagmeter that issues tokens for an API key. */
export function createTokenPeer(binary: string): Peer {
  return {
    status: 200,
    uniqueUsers: '',
    async start() {
      const service = await startService(binary, serve);
      const requests = (http: string) => [{ text: tokenRequest(http, service.credentials), checks: 0 }];
      return runFlagmeter(binary, service, 'token', requests, undefined);
    },
  };
}

function runFlagmeter(
  binary: string,
  { credentials, applicationId, ...first }: Service,
  unit: string,
  requests: (http: string) => readonly PeerRequest[],
  retried: ((http: string) => PeerRequest) | undefined,
): RunningPeer {
  let service = { ...first };
  const since = Math.floor(Date.now() / hour) * hour;
  return {
    name: `flagmeter ${packageJson.version}, ${unit}`,
    get http() {
      return service.http;
    },
    get pid() {
      return service.pid;
    },
    processes: () => [service.pid],
    requests: () => requests(service.http),
    counts: retried && {
      async total() {
        const access = await signIn(service.http, credentials);
        const to = new Date(since + 2 * hour);
        const query = { environment: 'Production', from: new Date(since), to, step: 'hour' } as const;
        const { features } = await usage(service.http, access, applicationId, query);
        return features.reduce((sum, { checks }) => sum + checks, 0);
      },
      retried: () => retried(service.http),
      async kill() {
        await stop(service, 'SIGKILL');
      },
      async restart() {
        service = { ...service, ...(await startBinary({ data: service.data, binary, args: serve })) };
      },
    },
    stop: async () => void (await stop(service)),
  };
}
