import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleKeys } from '../../../src/ingest/declared.ts';
import { createApplication, createKey, manage, token } from '../../support/binary.ts';
import { type LocalOptions, type LocalService, startLocal } from '../../support/service.ts';
import { adoptedTokens, allowedOrigin, type Case, cases, packet, withoutCase } from './cases.ts';
import { document, listProblems, listStatuses, openapi, operations } from './document.ts';

/** The preconditions of a case. */
type World = NonNullable<Case['while']> | 'usual';

const settings: Readonly<Record<World, LocalOptions>> = {
  usual: {},
  limited: { args: ['--rate', '1', '--burst', '1'], clock: { now: () => Date.now(), monotonic: () => 0 } },
  // One packet fills the queue, and remains in the queue for the delay of its commit.
  flooded: {
    args: ['--queue-high-packets', '1', '--queue-low-packets', '0', '--batch-packets', '1', '--commit-delay', '200'],
  },
};

interface Shop {
  readonly service: LocalService;
  /** Replaces the keys of the examples with real keys. */
  fill(text: string): string;
}

async function openShop(options: LocalOptions): Promise<Shop> {
  const service = await startLocal(options);
  const access = await token(service.http, service.credentials);
  const fields = { name: 'shop', allowedOrigins: [allowedOrigin], acceptClientIdentities: true };
  const id = await createApplication(service.http, access, fields);
  const types = ['Frontend', 'Mobile', 'Backend'] as const;
  const keys = new Map<string, string>();
  for (const type of types) {
    keys.set(exampleKeys[type], (await createKey(service.http, access, id, type)).key);
  }
  for (const [type, adopted] of Object.entries(adoptedTokens)) {
    const body = { token: adopted, type, environment: 'Production' };
    await manage(service.http, access, 'POST', `/api/v2/applications/${id}/keys/adopt`, 201, body);
  }
  const fill = (text: string) => text.replace(/fm_(?:fe|mo|be)_0+/g, (example) => keys.get(example)!);
  return { service, fill };
}

const shops = new Map<World, Shop>();

beforeAll(async () => {
  for (const world of ['usual', 'limited', 'flooded'] as const) shops.set(world, await openShop(settings[world]));
});
afterAll(async () => {
  for (const { service } of shops.values()) await service.stop();
});

type SentCase = Pick<Case, 'operation' | 'headers' | 'body'>;

function send({ service, fill }: Shop, { operation, headers, body }: SentCase): Promise<Response> {
  const [method = '', path = ''] = operation.split(' ');
  const filled = Object.entries(headers).map(([name, value]) => [name, fill(value)]);
  const init = { method, headers: Object.fromEntries(filled) };
  const sent = typeof body === 'string' ? fill(body) : body;
  return fetch(`http://${service.http}${path}`, sent === undefined ? init : { ...init, body: sent });
}

/** Sends a case until its precondition holds. */
async function sendCase(one: Case): Promise<Response> {
  const shop = shops.get(one.while ?? 'usual')!;
  const copies = { usual: 1, limited: 2, flooded: 20 }[one.while ?? 'usual'];
  for (let round = 1; ; round += 1) {
    const flood = one.while === 'flooded' ? Array.from({ length: copies }, () => sendPacket(shop)) : [];
    const responses = await Promise.all([...flood, ...Array.from({ length: copies }, () => send(shop, one))]);
    const own = responses.slice(flood.length);
    const found = own.find(({ status }) => status === one.status);
    if (found !== undefined || round === 500) return found ?? own[0]!;
  }
}

function sendPacket(shop: Shop): Promise<Response> {
  const headers = { 'content-type': 'application/json', origin: allowedOrigin };
  return send(shop, { operation: 'POST /api/frontend/telemetry', headers, body: packet() });
}

/** Headers that are part of the interface; names in lower case. */
const promised = /^(access-control-.*|retry-after|vary|etag|www-authenticate)$/;

function documentedHeaders({ operation, status }: Case): string[] {
  const names = Object.keys(operations.get(operation)!.responses[status]?.headers ?? {});
  const sent = names.map((name) => name.toLowerCase()).filter((name) => promised.test(name));
  return sent.filter((name) => name !== 'access-control-expose-headers'); // Present only if an entry was left out.
}

describe('the service responds as documented', () => {
  test.each(cases)('the service responds to $operation with $status $code as documented', async (one) => {
    const response = await sendCase(one);
    expect(response.status).toBe(one.status);
    const sentHeaders = [...response.headers.keys()].filter((name) => promised.test(name));
    expect(sentHeaders.sort()).toEqual(documentedHeaders(one).sort());
    const { content } = operations.get(one.operation)!.responses[one.status]!;
    const text = await response.text();
    if (content === undefined) {
      expect(text).toBe('');
      return;
    }
    const type = response.headers.get('content-type')!;
    expect(Object.keys(content)).toContain(type);
    if (type.startsWith('text/')) return;
    const validate = document.responseValidator(one.operation, one.status, type);
    validate(JSON.parse(text));
    expect(validate.errors ?? []).toEqual([]);
    if (one.code !== undefined) expect(JSON.parse(text)).toEqual(listProblems(one.operation).get(one.code));
  });

  test('each documented status and code of the metrics host has a test case', () => {
    const missing = [...operations.keys()].flatMap((operation) => {
      const own = cases.filter((one) => one.operation === operation);
      const statuses = listStatuses(operation).filter((status) => !own.some((one) => one.status === status));
      const codes = [...listProblems(operation).keys()].filter((code) => !own.some((one) => one.code === code));
      const exempt: readonly string[] = withoutCase;
      return [...statuses, ...codes.filter((code) => !exempt.includes(code))].map((what) => `${operation} ${what}`);
    });
    expect(missing).toEqual([]);
  });
});

interface Sample extends SentCase {
  readonly name: string;
  readonly status: number;
  /** The documented response; `undefined` without a body. */
  readonly expected: unknown;
}

/** Every example of a request, with the response example of the same name. */
const samples: readonly Sample[] = [...operations].flatMap(
  ([operation, { parameters = [], requestBody, responses }]) => {
    const status = Number(Object.keys(responses)[0]);
    const fixed = parameters.flatMap(({ name, example }) => (name && example ? [[name, example]] : []));
    const credential = operation.endsWith('/identities') ? [['authorization', `Bearer ${exampleKeys.Backend}`]] : [];
    return Object.entries(requestBody?.content ?? {}).flatMap(([type, { examples = {} }]) =>
      Object.entries(examples).map(([name, { value }]) => ({
        name,
        operation,
        status,
        headers: Object.fromEntries([...fixed, ...credential, ['content-type', type]]),
        body: typeof value === 'string' ? value : JSON.stringify(value),
        expected: responses[status]!.content?.['application/json']?.examples?.[name]?.value,
      })),
    );
  },
);

describe('the examples of the document', () => {
  test.each(samples)(
    'the service responds to $operation with the documented example: $name',
    async ({ status, expected, ...sample }) => {
      const response = await send(shops.get('usual')!, sample);
      expect(response.status).toBe(status);
      const text = await response.text();
      if (expected === undefined) expect(text).toBe('');
      else expect(JSON.parse(text)).toEqual({ ...(expected as object), ...matchInstance(text) });
    },
  );

  test.each(samples)('the service accepts a compressed request to $operation: $name', async (sample) => {
    const headers = { ...sample.headers, 'content-encoding': 'gzip' };
    const shop = shops.get('usual')!;
    const body = gzipSync(shop.fill(String(sample.body))) as Uint8Array<ArrayBuffer>;
    expect((await send(shop, { ...sample, headers, body })).status).toBe(sample.status);
  });
});

/** Returns a matcher for the instance id of a response, because every request for an id returns another id. */
function matchInstance(text: string): object {
  const { instanceId } = JSON.parse(text) as { instanceId?: string };
  return instanceId === undefined ? {} : { instanceId: expect.stringMatching(/^fm_in_[0-9a-f]{72}$/) };
}

describe('GET /swagger/v2/swagger.json', () => {
  const get = (headers: Record<string, string> = {}, service = shops.get('usual')!.service) =>
    fetch(`http://${service.http}/swagger/v2/swagger.json`, { headers });

  test('swagger.json is readable by pages of any origin, and its server is the URL of the listener', async () => {
    const response = await get({ origin: 'https://docs.example' });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const servers = [{ url: `http://${shops.get('usual')!.service.http}` }];
    expect(await response.json()).toEqual({ ...JSON.parse(JSON.stringify(openapi)), servers });
  });

  test('the server in swagger.json is the public URL if a public URL is set', async () => {
    const service = await startLocal({ args: ['--metrics-url', 'https://in.example/flags', '--max-body', '1000'] });
    const document = (await (await get({}, service)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: 'https://in.example/flags' }]);
    expect(JSON.stringify(document)).toContain('The maximum length is 1000 bytes');
    await service.stop();
  });

  test('a client that has cached swagger.json gets 304 without the document', async () => {
    const etag = (await get()).headers.get('etag')!;
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const response = await get({ 'if-none-match': tag });
      expect({ status: response.status, text: await response.text() }).toEqual({ status: 304, text: '' });
      expect(response.headers.get('etag')).toBe(etag);
    }
    expect((await get({ 'if-none-match': '"x"' })).status).toBe(200);
  });
});
