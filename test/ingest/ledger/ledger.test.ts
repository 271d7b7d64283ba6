import type { Client } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { long, noted } from '../../fixtures/reports/noted.ts';
import { createApplication, createKey, token } from '../../support/binary.ts';
import { call, openClient } from '../../support/grpc-call.ts';
import { readLedger, readRefusals } from '../../support/ledger-report.ts';
import { encode } from '../../support/report-messages.ts';
import { type LocalService, startLocal } from '../../support/service.ts';

type Headers = Record<string, string>;

const kinds = {
  usage: { json: '/api/usage/stats', rpc: '/Usage.Usage/SendStats', message: 'Usage.FeatureStat' },
  metrics: { json: '/api/metrics', rpc: '/Metrics.Metrics/SendMetrics', message: 'Metrics.MetricStat' },
} as const;

type Kind = keyof typeof kinds;

interface Way {
  encode(kind: Kind, report: object): Buffer;
  /** Returns the code of the refusal, or `taken`. */
  send(kind: Kind, bytes: Buffer, headers: Headers): Promise<string>;
}

let service: LocalService;
let access: string;
let client: Client;
beforeAll(async () => {
  service = await startLocal({ args: ['--max-features', '1', '--max-metrics', '1', '--max-report', '64KiB'] });
  access = await token(service.http, service.credentials);
  client = openClient(service.grpc);
});
afterAll(async () => {
  client.close();
});

function post(path: string, body: Buffer | string, headers: Headers): Promise<Response> {
  return fetch(`http://${service.http}${path}`, { method: 'POST', headers, body });
}

const agent = { 'user-agent': 'sdk/1' };

/** Encodes a report. Unlike the protobuf library, it encodes a lone surrogate as three bytes that are not UTF-8. */
function encodeMessage(kind: Kind, report: object): Buffer {
  const sent = JSON.parse(JSON.stringify(report).replaceAll(/\\ud[89a-f]../g, '\ufffd'));
  const text = encode(kinds[kind].message, sent).toString('latin1');
  return Buffer.from(text.replaceAll('\xef\xbf\xbd', '\xed\xa0\x80'), 'latin1');
}

const ways: Readonly<Record<'http' | 'grpc' | 'grpc-web', Way>> = {
  http: {
    encode: (_kind, report) => Buffer.from(JSON.stringify(report)),
    async send(kind, bytes, headers) {
      const type = { 'content-type': 'application/json' };
      const response = await post(kinds[kind].json, bytes, { ...type, ...agent, ...headers });
      return ((await response.json()) as { code?: string }).code ?? 'taken';
    },
  },
  grpc: {
    encode: encodeMessage,
    async send(kind, bytes, metadata) {
      const { code, trailers } = await call(client, kinds[kind].rpc, bytes, { metadata });
      return code === 0 ? 'taken' : String(trailers.get('flagmeter-code')[0]);
    },
  },
  'grpc-web': {
    encode: encodeMessage,
    async send(kind, bytes, headers) {
      const head = Buffer.alloc(5);
      head.writeUInt32BE(bytes.length, 1);
      const type = { 'content-type': 'application/grpc-web' };
      const body = Buffer.concat([head, bytes]);
      const response = await post(kinds[kind].rpc, body, { ...type, ...agent, ...headers });
      const [, code = 'taken'] = /flagmeter-code: (\w+)/.exec(await response.text()) ?? [];
      return code;
    },
  },
};

async function openShop(fields: object = {}) {
  const id = await createApplication(service.http, access, { name: 'shop', ...fields });
  const key = await createKey(service.http, access, id, 'Backend');
  const head = { appKey: key.key, environment: 'Production', time: new Date().toISOString() };
  return { id, key, report: { ...head, instanceName: 'web-7', stats: [] } };
}

interface RefusalCase {
  readonly name: string;
  readonly code: string;
  readonly status: number;
  /** Transports on which this report can be sent; all by default. */
  readonly by?: readonly string[];
  /** Fields that differ from a valid report. `mangle` changes its bytes. */
  readonly fields?: object;
  readonly mangle?: (bytes: Buffer) => Buffer;
  readonly headers?: Headers;
}

const rpc = ['grpc', 'grpc-web'];

const refusals: readonly RefusalCase[] = [
  { name: 'that is truncated', code: 'invalid_json', status: 400, by: ['http'], mangle: cutOff },
  { name: 'that is truncated', code: 'invalid_protobuf', status: 400, by: rpc, mangle: cutOff },
  { name: 'that is not UTF-8', code: 'invalid_encoding', status: 400, by: ['http'], mangle: withOddByte },
  { name: 'without a time', code: 'invalid_time', status: 400, fields: { time: null } },
  {
    name: 'with an unsupported content type',
    code: 'invalid_content_type',
    status: 400,
    by: ['http'],
    headers: { 'content-type': 'text/html' },
  },
  {
    name: 'with a malformed Idempotency-Key',
    code: 'invalid_idempotency_key',
    status: 400,
    headers: { 'idempotency-key': 'x'.repeat(256) },
  },
  {
    name: 'whose deadline has passed',
    code: 'deadline_exceeded',
    status: 504,
    by: ['grpc-web'],
    headers: { 'grpc-timeout': '0m' },
  },
  {
    name: 'with a malformed deadline',
    code: 'invalid_protobuf',
    status: 400,
    by: ['grpc-web'],
    headers: { 'grpc-timeout': 'soon' },
  },
  { name: 'that is too large', code: 'body_too_large', status: 413, by: ['grpc'], mangle: withPadding },
];

function cutOff(bytes: Buffer): Buffer {
  return bytes.subarray(0, -1);
}

function withOddByte(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.of(0xff)]);
}

/** Adds an unknown field of 66 000 bytes. */
function withPadding(message: Buffer): Buffer {
  return Buffer.concat([message, Buffer.from('a206d08304', 'hex'), Buffer.alloc(66_000)]);
}

describe.each(Object.entries(ways))('ledger of reports by %s', (transport, way) => {
  const sender = { userAgent: transport === 'grpc' ? expect.stringMatching(/^grpc-node/) : 'sdk/1' };

  test.concurrent.each(['usage', 'metrics'] as const)('a %s report is counted as accepted', async (kind) => {
    const { id, report } = await openShop();
    expect(await way.send(kind, way.encode(kind, report), {})).toBe('taken');
    const { accepted, refused, noted, entries } = await readLedger(service.http, access, id);
    expect({ accepted, refused, noted }).toEqual({ accepted: 1, refused: 0, noted: 0 });
    expect(entries).toMatchObject([
      { environment: 'Production', transport, route: kind, outcome: 'accepted', status: 200, code: null },
    ]);
    expect(entries).toMatchObject([{ sender: { ...sender, instance: 'web-7' }, example: null }]);
  });

  test.concurrent('a report for an unknown environment is recorded with the environment name that the sender gave', async () => {
    const { id, report } = await openShop();
    const bytes = way.encode('metrics', { ...report, environment: 'Nowhere' });
    expect(await way.send('metrics', bytes, {})).toBe('unknown_environment');
    const { entries } = await readRefusals(service.http, access, id, 1);
    const example = { environment: 'Nowhere' };
    expect(entries).toMatchObject([{ environment: null, transport, status: 404, sender, example }]);
  });

  const possible = refusals.filter(({ by }) => by === undefined || by.includes(transport));
  const each = possible.flatMap((refused) => [
    { ...refused, kind: 'usage' as const },
    { ...refused, kind: 'metrics' as const },
  ]);
  test.concurrent.each(each)('the ledger has the refusal of a $kind report $name', async (refused) => {
    const { kind, code, status, fields = {}, headers = {}, mangle = (bytes) => bytes } = refused;
    const { id, key, report } = await openShop();
    const bytes = mangle(way.encode(kind, { ...report, ...fields }));
    expect(await way.send(kind, bytes, headers)).toBe(code);
    const { entries } = await readRefusals(service.http, access, id, 1);
    const example = { environment: 'Production', keyId: key.id, keyType: 'Backend' };
    const what = { environment: 'Production', transport, route: kind, outcome: 'refused', status, code };
    expect(entries).toMatchObject([{ ...what, count: 1, sender, example }]);
    expect(JSON.stringify(entries)).not.toContain(key.key);
  });

  test.concurrent('the refusal of a report over the rate limit is attributed to its application', async () => {
    const { id, report } = await openShop({ rate: 1, burst: 1 });
    const bytes = way.encode('usage', report);
    const codes = await Promise.all([1, 2, 3].map(() => way.send('usage', bytes, {})));
    expect(codes).toContain('rate_limited');
    const limited = codes.filter((code) => code === 'rate_limited').length;
    const { entries, accepted } = await readRefusals(service.http, access, id, limited);
    expect(accepted).toBe(3 - limited);
    expect(entries[0]).toMatchObject({ status: 429, code: 'rate_limited', transport, route: 'usage', sender });
  });

  test.concurrent.each(noted)('the ledger notes a $kind report $name', async ({ kind, fields, codes, path }) => {
    const { id, report } = await openShop();
    expect(await way.send(kind, way.encode(kind, { ...report, ...fields }), {})).toBe('taken');
    const { accepted, noted, entries } = await readLedger(service.http, access, id);
    expect({ accepted, noted }).toEqual({ accepted: 1, noted: codes.length });
    const notes = entries.filter(({ outcome }) => outcome === 'noted');
    expect(notes.map(({ code }) => code).sort()).toEqual(codes);
    for (const note of notes) expect(note).toMatchObject({ status: 200, transport, route: kind, count: 1 });
    if (path !== undefined) expect(notes).toMatchObject([{ example: { detail: path } }]);
  });
});

describe('ledger of packets', () => {
  const send = async (body: object | string, headers: Headers = {}) => {
    const type = { 'content-type': 'application/json' };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await post('/api/frontend/telemetry', text, { ...type, ...agent, ...headers });
    return response.status;
  };
  const openApp = async (fields: object = {}) => {
    const id = await createApplication(service.http, access, { name: 'app', ...fields });
    const key = await createKey(service.http, access, id, 'Mobile');
    return { id, key, packet: { k: key.key, e: 'Production', f: { checkout: { on: [1] } } } };
  };

  test.concurrent.each([
    ['that is truncated', 'invalid_json', {}, -1],
    ['with an unsupported content type', 'invalid_content_type', { 'content-type': 'text/html' }, undefined],
    ['with a malformed Idempotency-Key', 'invalid_idempotency_key', { 'idempotency-key': '' }, undefined],
  ] as const)('the refusal of a packet %s is attributed to its application', async (_, code, headers, end) => {
    const { id, key, packet } = await openApp();
    expect(await send(JSON.stringify(packet).slice(0, end), headers)).toBe(400);
    const { entries } = await readRefusals(service.http, access, id, 1);
    const example = { environment: 'Production', keyId: key.id };
    expect(entries).toMatchObject([{ environment: 'Production', status: 400, code, count: 1, example }]);
  });

  test.concurrent('the refusal of a packet over the rate limit is attributed to its application', async () => {
    const { id, packet } = await openApp({ rate: 1, burst: 1 });
    const statuses = await Promise.all([1, 2, 3].map(() => send(packet)));
    const limited = statuses.filter((status) => status === 429).length;
    expect(limited).toBeGreaterThan(0);
    const { entries, accepted } = await readRefusals(service.http, access, id, limited);
    expect(accepted).toBe(3 - limited);
    expect(entries[0]).toMatchObject({ status: 429, code: 'rate_limited', route: 'telemetry', count: limited });
  });

  test.concurrent.each([
    ['an unknown instance id', { i: 'nobody' }, 1],
    ['an overlong instance id', { i: 'i'.repeat(10_000) }, 1],
    ['an overlong client identity', { u: 'u'.repeat(10_000) }, 0],
  ])('a packet with %s is accepted without its user', async (_, who, dropped) => {
    const { id, packet } = await openApp({ acceptClientIdentities: true });
    expect(await send({ ...packet, ...who })).toBe(202);
    const { accepted, noted, entries } = await readLedger(service.http, access, id);
    expect({ accepted, noted }).toEqual({ accepted: 1, noted: dropped });
    const note = { outcome: 'noted', code: 'instance_dropped', environment: 'Production', status: 202 };
    expect(entries).toMatchObject([...Array(dropped).fill(note), { outcome: 'accepted', count: 1 }]);
  });

  test.concurrent.each([
    ['too many features', { f: { a: { on: [1] }, b: { on: [1] } } }, 'series_folded'],
    ['an invalid feature name', { f: { a: { on: [1] }, [long]: { on: [1] } } }, 'name_dropped'],
    ['an invalid variant name', { f: { a: { on: [1], '': [1], '\n': [1] } } }, 'name_dropped'],
    ['an invalid metric name', { m: { '\ud83d': 1 } }, 'name_dropped'],
    ['a misspelt field', { features: { a: { on: [1] } } }, 'field_unknown'],
    ['a field named __proto__', JSON.parse('{"__proto__":1}'), 'field_unknown'],
  ])('the ledger notes a packet with %s', async (_, fields, code) => {
    const { id, packet } = await openApp();
    expect(await send({ ...packet, f: {}, ...fields })).toBe(202);
    const { entries } = await readLedger(service.http, access, id);
    expect(entries).toMatchObject([{ outcome: 'noted', code, status: 202, count: 1 }, { outcome: 'accepted' }]);
  });
});
