import { type Credentials, manage, token as newToken } from '../test/support/binary.ts';
import { besideFloor, type Comparison } from './beside-floor.ts';
import { type Service, sendRequests } from './service.ts';

/** Number of tokens that requests use alternately. Real callers use a token for several requests, too. */
const callers = 64;

/** Compares the issuing of access tokens with the bare HTTP engine that signs once per request. */
export const issuing = tokenComparison({
  summary:
    'issued access tokens per second, compared with the bare HTTP engine with one signature per request (the floor)',
  unit: 'token',
  floor: 'sign',
  requests: async ({ http, credentials }) => [tokenRequest(http, credentials)],
});

/**
 * Compares management API requests that have a bearer token with the bare HTTP engine, which verifies one signature per
 * request.
 */
export const calls = tokenComparison({
  summary: 'API requests with a token per second, compared with the bare HTTP engine with one verification per request',
  unit: 'request',
  floor: 'verify',
  requests: async ({ http, credentials }) => {
    const tokens = await Promise.all(Array.from({ length: callers }, () => newToken(http, credentials)));
    return tokens.map((bearer) => listRequest(http, bearer));
  },
});

export const token = besideFloor(issuing);
export const verify = besideFloor(calls);

/** A comparison of requests with tokens. */
interface TokenComparison {
  readonly summary: string;
  /** Unit that one request delivers. */
  readonly unit: string;
  /** Operation of `floor-tokens.ts` per request. */
  readonly floor: 'sign' | 'verify';
  /** Complete HTTP requests, which the floor receives, too. */
  readonly requests: (service: Service) => Promise<readonly string[]>;
}

function tokenComparison({ floor, requests, ...comparison }: TokenComparison): Comparison<never> {
  return {
    ...comparison,
    defaults: { connections: 64, seconds: 10, rounds: 3 },
    small: { connections: 8, seconds: 0.1, rounds: 1 },
    floors: { floor: ['floor-tokens.ts', floor] },
    serve: ['--token-rate', '0'],
    async begin(service, { connections, seconds }) {
      const plan = { connections, seconds, warmupSeconds: Math.min(1, seconds / 5), status: 200 };
      const texts = await requests(service);
      return {
        drive: (other, open) => sendRequests(other ?? service.http, texts, { ...plan, ...open }),
        verify: () => verifyTokens(service),
      };
    },
  };
}

/** Returns the request with which a machine gets a token. */
export function tokenRequest(
  http: string,
  { clientId, clientSecret }: Pick<Credentials, 'clientId' | 'clientSecret'>,
  { path, scope } = { path: '/connect/token', scope: 'openid flagmeter' },
): string {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope,
  }).toString();
  return [
    `POST ${path} HTTP/1.1`,
    `Host: ${http}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

function listRequest(http: string, bearer: string): string {
  return `GET /api/v2/applications HTTP/1.1\r\nHost: ${http}\r\nAuthorization: Bearer ${bearer}\r\n\r\n`;
}

/** Checks that tokens which were issued under load are valid. @throws {Error} if a token is invalid */
async function verifyTokens({ http, credentials, applicationId }: Service): Promise<void> {
  const bearer = await newToken(http, credentials);
  const { items } = (await manage(http, bearer, 'GET', '/api/v2/applications', 200)) as {
    items: readonly { id: string }[];
  };
  if (items[0]?.id !== applicationId) throw new Error('a token does not give access to its application');
}
