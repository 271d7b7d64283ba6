import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, credentials as channel } from '@grpc/grpc-js';
import type { Credentials } from './binary.ts';
import { call } from './grpc-call.ts';
import { encode } from './report-messages.ts';

/** Certificate of the authority for the load balancers in tests. */
const ca = readFileSync(new URL('../http/support/tls/cert.pem', import.meta.url));
const environment = 'Production';

export interface ClientOptions {
  /** Port of the load balancer on `localhost`. */
  readonly port: number;
  readonly credentials: Credentials;
  readonly application: string;
  readonly frontendKey: string;
  readonly backendKey: string;
  /** Id of a public client. `refreshToken` is its refresh token. */
  readonly clientId: string;
  readonly refreshToken: string;
}

/** State of the clients so far. */
export interface ClientState {
  readonly checks: Map<string, number>;
  /** Access tokens that the service must refuse, and access tokens that it must accept. */
  readonly invalidated: string[];
  readonly valid: string[];
  /** The latest refresh token. Each use replaces it. */
  refreshToken: string;
  /** Descriptions of responses that no client should get. */
  readonly failures: string[];
}

export interface SteadyClients {
  readonly told: ClientState;
  /** Resolves when each client has received `count` more responses. */
  rounds(count: number): Promise<void>;
  stop(): Promise<void>;
}

interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A form, or a value to send as JSON. */
  readonly body?: unknown;
}

interface TextResponse {
  readonly status: number;
  readonly text: string;
}

const betweenMs = 50;

/** Starts one client of each kind. A client sends one request after another. The load balancer retries requests. */
export function startClients(wanted: ClientOptions): SteadyClients {
  const agent = new Agent({ ca, keepAlive: true });
  const grpc = new Client(`localhost:${wanted.port}`, channel.createSsl(ca));
  const told: ClientState = {
    checks: new Map(),
    invalidated: [],
    valid: [],
    failures: [],
    refreshToken: wanted.refreshToken,
  };
  const ask = (path: string, asked: RequestOptions = {}) => send(agent, wanted.port, path, asked);
  const services = { ask, grpc, told, wanted };
  let isOver = false;
  const rounds = new Map<string, number>();
  const loops = Object.entries(clients).map(async ([name, once]) => {
    for (let number = 1; !isOver; number += 1) {
      await once(services, number).catch((error) => told.failures.push(`${name} ${number}: ${String(error)}`));
      rounds.set(name, number);
      await pause(betweenMs);
    }
  });
  return {
    told,
    async rounds(count) {
      const from = new Map(rounds);
      const isBehind = (name: string) => (rounds.get(name) ?? 0) - (from.get(name) ?? 0) < count;
      while (Object.keys(clients).some(isBehind)) await pause(betweenMs);
    },
    async stop() {
      isOver = true;
      await Promise.all(loops);
      grpc.close();
      agent.destroy();
    },
  };
}

interface ClientServices {
  readonly ask: (path: string, asked?: RequestOptions) => Promise<TextResponse>;
  readonly grpc: Client;
  readonly told: ClientState;
  readonly wanted: ClientOptions;
}

const origin = 'https://shop.example.com';

/** The action that each client repeats. It throws on a response that no client should get. */
const clients: Readonly<Record<string, (services: ClientServices, number: number) => Promise<void>>> = {
  async packets({ ask, told, wanted }) {
    const body = { k: wanted.frontendKey, e: environment, f: { packets: { on: [1] } } };
    expectStatus(await ask('/api/frontend/telemetry', { headers: { origin }, body }), 202);
    count(told, 'packets');
  },
  async reports({ ask, told, wanted }) {
    expectStatus(await ask('/api/usage/stats', { body: createReport(wanted, 'reports') }), 200);
    count(told, 'reports');
  },
  async calls({ grpc, told, wanted }) {
    const message = encode('Usage.FeatureStat', createReport(wanted, 'calls'));
    const { code, details } = await call(grpc, '/Usage.Usage/SendStats', message);
    if (code !== 0) throw new Error(`${code} ${details}`);
    count(told, 'calls');
  },
  async people({ ask, told, wanted }, number) {
    const headers = { authorization: wanted.backendKey };
    const body = { identity: `person-${number % 5}` };
    const minted = expectStatus(await ask('/api/frontend/identities', { headers, body }), 200);
    const { instanceId: i } = JSON.parse(minted) as { instanceId: string };
    const packet = { k: wanted.frontendKey, e: environment, f: { people: { on: [1] } }, i };
    expectStatus(await ask('/api/frontend/telemetry', { headers: { origin }, body: packet }), 202);
    count(told, 'people');
  },
  async tokens({ ask, told, wanted }, number) {
    const access = await newToken(ask, wanted);
    expectStatus(await ask('/api/v2/users', bearer(access)), 200);
    if (number % 2 === 0) {
      told.valid.push(access);
      return;
    }
    expectStatus(await ask('/api/account/invalidate-token', { ...bearer(access), method: 'POST' }), 200);
    expectStatus(await ask('/api/v2/users', bearer(access)), 401);
    told.invalidated.push(access);
  },
  async refreshes({ ask, told, wanted: { clientId } }) {
    const form = { grant_type: 'refresh_token', refresh_token: told.refreshToken, client_id: clientId };
    const response = expectStatus(await ask('/connect/token', { body: new URLSearchParams(form) }), 200);
    const tokens = JSON.parse(response) as { refresh_token: string; access_token: string };
    told.refreshToken = tokens.refresh_token;
    expectStatus(await ask('/connect/userinfo', bearer(tokens.access_token)), 200);
  },
  async changes({ ask, wanted }, number) {
    const access = await newToken(ask, wanted);
    const path = `/api/v2/applications/${wanted.application}/features/changed`;
    const change = { ...bearer(access), method: 'PATCH', body: { description: `Change ${number}` } };
    expectStatus(await ask(path, change), 200);
    const feature = expectStatus(await ask(path, bearer(access)), 200);
    const { description } = JSON.parse(feature) as { description: string };
    if (description !== `Change ${number}`) throw new Error(`${path} says ${description}`);
  },
};

async function newToken(ask: ClientServices['ask'], { credentials }: ClientOptions): Promise<string> {
  const { clientId: client_id, clientSecret: client_secret } = credentials;
  const form = { grant_type: 'client_credentials', client_id, client_secret, scope: 'openid flagmeter' };
  const response = expectStatus(await ask('/connect/token', { body: new URLSearchParams(form) }), 200);
  return (JSON.parse(response) as { access_token: string }).access_token;
}

function createReport({ backendKey: appKey }: ClientOptions, feature: string) {
  const time = new Date().toISOString();
  return { appKey, environment, time, stats: [{ feature, variantStats: { on: { checkCount: 1 } } }] };
}

function bearer(access: string): RequestOptions {
  return { headers: { authorization: `Bearer ${access}` } };
}

function count({ checks }: ClientState, feature: string): void {
  checks.set(feature, (checks.get(feature) ?? 0) + 1);
}

function expectStatus({ status, text }: TextResponse, expected: number): string {
  if (status !== expected) throw new Error(`${status}, not ${expected}: ${text}`);
  return text;
}

function send(agent: Agent, port: number, path: string, asked: RequestOptions): Promise<TextResponse> {
  const { body, method = body === undefined ? 'GET' : 'POST', headers } = asked;
  const isForm = body instanceof URLSearchParams;
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  const options = { host: 'localhost', port, path, agent, method, headers: { 'content-type': type, ...headers } };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject).once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.once('error', (error) => reject(new Error(`${path}: ${error.message}`)));
    sent.end(body === undefined ? undefined : isForm ? body.toString() : JSON.stringify(body));
  });
}
