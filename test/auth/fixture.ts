import { randomBytes } from 'node:crypto';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { newSigningKey } from '../../src/accounts/signing-keys.ts';
import { ClientFailures, ClientRates } from '../../src/auth/oauth/clients.ts';
import { DeviceCodes } from '../../src/auth/oauth/device-codes.ts';
import { openSigningKeys } from '../../src/auth/oauth/key-ring.ts';
import { TokenTotals } from '../../src/auth/oauth/tokens.ts';
import {
  createValidation,
  forgetInvalidated,
  type ValidationDeps,
  VerifiedTokens,
} from '../../src/auth/oauth/validation.ts';
import { Issuers } from '../../src/auth/sso/issuers.ts';
import { ProviderClient } from '../../src/auth/sso/provider-client.ts';
import { Providers } from '../../src/auth/sso/providers.ts';
import type { SsoServices } from '../../src/auth/sso/services.ts';
import { Refusal } from '../../src/contract/errors.ts';
import type { Role } from '../../src/contract/roles.ts';
import type { Dispatch, HttpResponse, Request } from '../../src/http/types.ts';
import type { SigningKey } from '../../src/storage/lmdb/auth-records.ts';
import type { ApiKey } from '../../src/storage/lmdb/records.ts';
import { type Fixture, openFixture } from '../accounts/fixture.ts';

export interface RequestDeps {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Creates a request in the form in which an HTTP engine passes requests on. */
export function createRequest(target: string, { method = 'GET', headers = {}, body = '' }: RequestDeps = {}): Request {
  const [path = '', query = ''] = target.split('?');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  return {
    method,
    path,
    query,
    remoteAddress: '127.0.0.1',
    header: (name) => headers[name],
    headers: () => Object.entries(headers),
    body: async (limit) => {
      if (bytes.length > limit) throw new Refusal('body_too_large', 'Too large');
      return bytes;
    },
  };
}

/** A response with its parsed JSON. */
export interface JsonResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: the expectations of a test show the type
  readonly json: any;
  readonly text: string;
}

export async function send(dispatch: Dispatch, target: string, options?: RequestDeps): Promise<JsonResponse> {
  const response = await dispatch(createRequest(target, options));
  const { status, headers = {} } = response;
  const text = await readText(response);
  const isJson =
    text !== '' && (headers['content-type'] ?? 'json').includes('json') && !headers['content-type']?.includes('ndjson');
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
}

async function readText({ body = '', chunks }: HttpResponse): Promise<string> {
  if (chunks === undefined) return typeof body === 'string' ? body : new TextDecoder().decode(body);
  const all: Uint8Array[] = [];
  for (let chunk = await chunks.next(); chunk !== undefined; chunk = await chunks.next()) all.push(chunk);
  chunks.stop();
  return Buffer.concat(all).toString();
}

/** Returns the status and the error code that a refusal must have. */
export const refusal = (status: number, code: string, detail?: unknown) => ({
  status,
  json: { code, ...(detail !== undefined && { detail }) },
});

const silent = { warn: () => {} };

export interface Client {
  readonly apiKey: ApiKey;
  readonly clientSecret: string;
}

export type AuthSettings = SsoServices & ValidationDeps;

export interface AuthFixture extends Fixture {
  readonly settings: AuthSettings;
  readonly signingKey: SigningKey;
  addClient(role: Role, teamId?: string): Promise<Client>;
}

/**
 * Opens a directory, and the dependencies to issue and verify tokens.
 * @param tokenRate requests per second of one client; by default unlimited
 * @param base a fixture to use in place of a fresh data directory
 */
export async function openAuthFixture(tokenRate = 0, base?: Fixture): Promise<AuthFixture> {
  const fixture = base ?? (await openFixture());
  const { directory, clock, team } = fixture;
  const signingKey = await newSigningKey(clock.now());
  const addClient = (role: Role, teamId = team.id) => createApiKey(directory, { teamId, name: role, role });
  return { ...fixture, settings: createSettings(fixture, signingKey, tokenRate), signingKey, addClient };
}

/** The dependencies with which a new process issues and verifies tokens. */
export function createSettings(
  { accountStore, directory, clock }: Pick<Fixture, 'accountStore' | 'directory' | 'clock'>,
  signingKey: SigningKey,
  tokenRate = 0,
): AuthSettings {
  const verified = new VerifiedTokens();
  forgetInvalidated(accountStore, verified);
  const fetch = async () => Promise.reject(new Error('No provider is known'));
  const issuers = new Issuers(fetch, clock);
  const settings = {
    issuer: 'https://auth.example',
    audience: 'https://api.example',
    keys: openSigningKeys([signingKey]),
    clock,
    randomBytes,
    directory,
    serviceScope: 'flagmeter',
    accountStore,
    verified,
    failures: new ClientFailures(),
    rates: new ClientRates(tokenRate),
    issuerKeys: { of: async () => undefined },
    devices: new DeviceCodes({ accountStore, clock, randomBytes }),
    totals: new TokenTotals({ log: silent, clock }),
    issuers,
    providers: new Providers(directory),
    providerClient: new ProviderClient({ issuers, fetch, clock, allowPrivate: false }),
  };
  return { ...settings, validate: createValidation(settings) };
}
