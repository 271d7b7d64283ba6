import { constants } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RefusalCode } from '../../src/contract/refusals.ts';
import { opened } from '../support/opened.ts';
import { switchedStorage } from '../support/postgres-away.ts';
import { breaches, type Schema } from './support/breaches.ts';
import { busyApplication } from './support/busy-application.ts';
import { departures, read } from './support/conformance.ts';
import { createCrowd } from './support/crowd.ts';
import { listProblems, openapi, operations } from './support/openapi-document.ts';
import { requestFor } from './support/openapi-recipes.ts';
import type { DocumentedRequest } from './support/recipe.ts';
import { routes } from './support/routes.ts';
import { goodRequest, operationNamed } from './support/targets.ts';
import { openWorld, type World } from './support/world.ts';

/** A documented response. */
interface DocumentedResponse {
  readonly route: string;
  readonly status: number;
  readonly code?: RefusalCode;
}

const operationsOfDocument = [...routes, 'POST /api/account/invalidate-token', 'GET /api/v2/openapi.json'];

/** Every response of every operation, with each refusal code. */
const promised: readonly DocumentedResponse[] = operationsOfDocument.flatMap((route) => {
  const { responses } = operations.get(operationNamed(route))!;
  return Object.entries(responses).flatMap(([status, { content = {} }]): DocumentedResponse[] => {
    if (status === 'default') return [];
    const codes = Object.keys(content['application/problem+json']?.examples ?? {}) as RefusalCode[];
    if (codes.length === 0) return [{ route, status: Number(status) }];
    return codes.map((code) => ({ route, status: Number(status), code }));
  });
});

const hasCode = (code: RefusalCode) => (one: DocumentedResponse) => one.code === code;

/**
 * True for responses that these tests cannot cause. The disk of a worker cannot fail, and its queue cannot be filled.
 */
const withoutCase = (one: DocumentedResponse) =>
  (hasCode('store_unavailable')(one) && one.route.startsWith('DELETE /applications/:id/identities')) ||
  (hasCode('backpressure')(one) && one.route === 'POST /applications/:id/imports');

const usual = opened(openWorld);
let limited: World;
let full: World;
let apart: World;
const storage = switchedStorage();

beforeAll(async () => {
  limited = await openWorld(['--api-rate', '1']);
  full = await openWorld();
  apart = await openWorld(undefined, storage);
});
afterAll(async () => {
  for (const { service } of [usual, limited, full, apart]) await service.stop();
});

function send(world: World, { authorization, method, path, body, headers }: DocumentedRequest): Promise<Response> {
  return world.send(authorization, method, path, body, headers);
}

/** Sends a request. If the recipe has `again`, repeats the request until the wanted response arrives. */
async function fetchResponse(world: World, wanted: DocumentedRequest, status: number): Promise<Response> {
  const { again } = wanted;
  if (again === undefined) return send(world, wanted);
  for (let time = 0; ; time += 1) {
    const response = await send(world, { ...wanted, ...again(time) });
    if (response.status === status || time === 10_000) return response;
    await response.text();
  }
}

/**
 * Requests that fill a queue. They continue after one test has its response, because a queue of passwords stays full
 * for seconds.
 */
class Crowd {
  readonly #send: () => readonly Promise<string>[];
  #pending: Promise<unknown> | undefined;

  constructor(world: World, wanted: () => readonly DocumentedRequest[]) {
    this.#send = () => wanted().map(async (each) => (await send(world, each)).text());
  }

  /** Sends the requests of the crowd unless earlier requests are pending. */
  gather(): void {
    this.#pending ??= Promise.all(this.#send()).finally(() => {
      this.#pending = undefined;
    });
  }

  async end(): Promise<void> {
    await this.#pending;
  }
}

/** Sends a request while a crowd fills the queue, until the wanted response arrives. */
async function fetchResponseInCrowd(
  world: World,
  crowd: Crowd,
  wanted: DocumentedRequest,
  status: number,
): Promise<Response> {
  for (let round = 0; ; round += 1) {
    crowd.gather();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, at) => send(world, { ...wanted, ...wanted.again?.(20 * round + at) })),
    );
    const found = responses.find((response) => response.status === status) ?? responses[0]!;
    for (const other of responses) if (other !== found) await other.text();
    if (found.status === status || round === 500) return found;
    await crowd.end();
  }
}

async function check({ route, status, code }: DocumentedResponse, response: Response): Promise<void> {
  const operation = operationNamed(route);
  const received = await read(response);
  expect(received).toMatchObject({ status });
  expect(departures(operation, received)).toEqual([]);
  if (code !== undefined) expect(JSON.parse(received.text)).toEqual(listProblems(operation).get(code));
}

function named(cases: readonly DocumentedResponse[]) {
  return cases.map((one) => [`${one.route}: ${one.status} ${one.code ?? ''}`, one] as const);
}

describe('a documented response', () => {
  const special = (['rate_limited', 'store_unavailable', 'postgres_unavailable', 'backpressure'] as const).map(hasCode);
  const plain = promised.filter((one) => !special.some((is) => is(one)));
  test.each(named(plain))('a response matches the document: %s', async (_name, one) => {
    const wanted = await requestFor(usual, one.route, one.code ?? one.status);
    await check(one, await fetchResponse(usual, wanted, one.status));
  });
});

/** The schema of the body that a route requires or allows. */
const findSchema = (route: string) =>
  operations.get(operationNamed(route))!.requestBody?.content['application/json']?.schema;

/** Returns the field in which a body differs from a valid body. */
function changedField(sent: unknown, good: object): string {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return 'body';
  const [before, after] = [good, sent].map((body) => new Map(Object.entries(body)));
  return [...after!.keys(), ...before!.keys()].find((name) => after!.get(name) !== before!.get(name)) ?? '';
}

/**
 * Codes for a refused body. An unknown environment gives `unknown_environment`, and another user's password gives
 * `forbidden`.
 */
const ofBodies = ['invalid_body', 'invalid_name', 'invalid_time', 'unknown_environment', 'forbidden'];

describe('a body that breaks a rule of its schema', () => {
  // Excludes scans, where any text can be a feature name.
  const checked = routes.filter((route) => findSchema(route) !== undefined && !route.includes('code-scans/'));

  test.each(checked)('a body that breaks its schema is refused, and changes nothing: %s', async (route) => {
    const { method, path, body = {} } = await goodRequest(usual, route);
    const latest = async () => (await usual.send(usual.asAdmin, 'GET', '/api/v2/audit?limit=1')).json();
    const before = await latest();
    const responses = breaches(findSchema(route) as Schema, body).map(async (sent) => {
      const { text } = await read(await usual.send(usual.asAdmin, method, path, sent));
      return { sent, field: changedField(sent, body as object), ...JSON.parse(text) };
    });
    const served = (await Promise.all(responses)).filter(
      ({ code, detail, field }) =>
        !ofBodies.includes(code) ||
        (code === 'invalid_body' && !detail.includes(field) && !detail.startsWith('`metric` must')),
    );
    expect(served).toEqual([]);
    expect(await latest()).toEqual(before);
  });
});

describe('a client with too many requests', () => {
  const cases = promised.filter(hasCode('rate_limited'));
  test.each(named(cases))('a client with too many requests gets the documented response: %s', async (_name, one) => {
    const [method = '', path = ''] = one.route.split(' ');
    const authorization = `Bearer ${await limited.sign(limited.admin)}`;
    const wanted = { authorization, method, path: `/api/v2${path}`, again: () => ({}) };
    await check(one, await fetchResponse(limited, wanted, one.status));
  });
});

describe.each(['reports', 'passwords'] as const)('a queue full of %s', (what) => {
  const isOfUsers = ({ route }: DocumentedResponse) => route.includes(' /users');
  const cases = promised.filter(
    (one) => hasCode('backpressure')(one) && !withoutCase(one) && isOfUsers(one) === (what === 'passwords'),
  );
  let crowd: Crowd;
  beforeAll(async () => {
    crowd = new Crowd(usual, await createCrowd(usual, what));
  });
  afterAll(() => crowd.end());

  test.each(named(cases))('a full queue causes the documented response: %s', async (_name, one) => {
    if (what === 'reports') await crowd.end(); // A refused report would fail the setup below.
    const wanted = await requestFor(usual, one.route, 'backpressure');
    await check(one, await fetchResponseInCrowd(usual, crowd, wanted, one.status));
  });
});

describe('a full disk', () => {
  const cases = promised.filter(hasCode('store_unavailable')).filter((one) => !withoutCase(one));
  const wanted = new Map<string, DocumentedRequest>();

  beforeAll(async () => {
    for (const { route } of cases) wanted.set(route, await requestFor(full, route, 'store_unavailable'));
    const noRoom = Object.assign(new Error('No space left on device'), { code: constants.errno.ENOSPC });
    full.store.lmdb.batch = () => Promise.reject(noRoom);
  });

  test.each(named(cases))('a full disk causes the documented response: %s', async (_name, one) => {
    await check(one, await send(full, wanted.get(one.route)!));
  });
});

describe('an unreachable PostgreSQL', () => {
  const cases = promised.filter(hasCode('postgres_unavailable'));
  beforeAll(() => {
    storage.away = true;
  });

  test.each(named(cases))('an unreachable PostgreSQL causes the documented response: %s', async (_name, one) => {
    const [method = '', path = ''] = one.route.split(' ');
    const whole = path.startsWith('/api/') ? path : `/api/v2${path}`;
    const response = await apart.send(apart.asAdmin, method, whole);
    expect(response.headers.get('retry-after')).toBe('2');
    await check(one, response);
  });
});

describe('a documented response with data', () => {
  const application = '/api/v2/applications/{id}';
  let path: string;

  beforeAll(async () => {
    path = await busyApplication(usual);
  });

  test.each([
    [application, '/usage', '?environment=Production', /"series":\[\[/],
    [application, '/measurements', '?environment=Production', /"feature":"checkout"/],
    [application, '/ingest', '', /"detail":/],
    [application, '/identities/{identity}/exposures', '?environment=Production', /"lastSeenAt":/],
    [application, '/features', '', /"declared":false/],
    [application, '/metrics', '', /"declared":false/],
    [application, '/keys', '', /"leaked"/],
    ['/api/v2/audit', '', '', /"actor"/],
  ])('a response with data matches the document: %s%s', async (base, more, query, something) => {
    const asked = `${base}${more}`.replace(application, path).replace('{identity}', 'user-7');
    const response = await read(await usual.send(usual.asAdmin, 'GET', `${asked}${query}`));
    expect(response).toMatchObject({ status: 200, text: expect.stringMatching(something) });
    expect(departures(`GET ${base}${more}`, response)).toEqual([]);
  });
});

describe('GET /api/v2/openapi.json', () => {
  test('openapi.json is the document of this service, and pages of any origin can read it', async () => {
    const response = await usual.send(undefined, 'GET', '/api/v2/openapi.json');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(openapi)));
  });
});
