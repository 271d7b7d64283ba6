import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/contract/errors.ts';
import type { Group } from '../../../src/http/endpoint.ts';
import { health } from '../../../src/http/health.ts';
import { exampleKeys } from '../../../src/ingest/declared.ts';
import { checkMint } from '../../../src/ingest/formats/identities/format.ts';
import { otlpEndpoints } from '../../../src/ingest/formats/otlp/format.ts';
import { grpcWeb } from '../../../src/ingest/formats/reports/grpc-web.ts';
import { decodeMetrics, decodeUsage } from '../../../src/ingest/formats/reports/json.ts';
import { checkPacket } from '../../../src/ingest/formats/telemetry/packet.ts';
import { describeMetricsHost, metricsDocument } from '../../../src/ingest/host/metrics-document.ts';
import { metricsHost } from '../../../src/ingest/host/metrics-host.ts';
import { badPackets } from '../../fixtures/packets/bad.ts';
import { goodPackets } from '../../fixtures/packets/good.ts';
import { bodyOf, type Fills, type PacketRequest } from '../../fixtures/packets/request.ts';
import { badMetrics, badUsage } from '../../fixtures/reports/bad.ts';
import { goodMetrics, goodUsage } from '../../fixtures/reports/good.ts';
import { timeFills } from '../../fixtures/reports/times.ts';
import { brokenReferences, checkExamples } from '../../support/openapi.ts';
import { conforms, document, listProblems, openapi, operations } from './document.ts';

interface Kind {
  readonly operation: string;
  readonly schema: string;
  /** Checks a request. Throws for requests that the service would refuse. */
  check(json: string): void;
  readonly good: readonly PacketRequest[];
  readonly bad: readonly (PacketRequest & { readonly status: number; readonly code: string })[];
}

const kinds: readonly Kind[] = [
  {
    operation: 'POST /api/frontend/telemetry',
    schema: 'Packet',
    check: (json) => void checkPacket(JSON.parse(json)),
    good: goodPackets,
    bad: badPackets,
  },
  {
    operation: 'POST /api/usage/stats',
    schema: 'UsageReport',
    check: (json) => void decodeUsage(json),
    good: goodUsage,
    bad: badUsage,
  },
  {
    operation: 'POST /api/metrics',
    schema: 'MetricsReport',
    check: (json) => void decodeMetrics(json),
    good: goodMetrics,
    bad: badMetrics,
  },
];

describe('the OpenAPI document', () => {
  test('the document of the metrics host is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(openapi) as Record<string, unknown>);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  test('the document of the metrics host has every route of the host, and no other route', () => {
    const groups: Group[] = [...metricsHost({ maxBody: 1, maxReport: 1 }), metricsDocument, health];
    const endpoints = groups
      .filter((group) => group !== grpcWeb && group !== otlpEndpoints)
      .flatMap((group) => group.endpoints);
    const names = endpoints.map(({ method, path }) => `${method} ${path}`);
    expect([...operations.keys()].sort()).toEqual(names.sort());
  });

  test('the document of the metrics host has the server URL and the body limit of its deployment', () => {
    const made = describeMetricsHost({ server: 'https://in.example/x', maxBody: 1234, maxReport: 5678 });
    expect(made['servers']).toEqual([{ url: 'https://in.example/x' }]);
    expect(JSON.stringify(made)).toContain('1234 bytes, and 5678 for reports');
  });

  test('the document of the metrics host has no dangling references', () => {
    expect(brokenReferences(openapi)).toEqual([]);
  });

  test('the document of the metrics host states the credential of every operation', () => {
    for (const [name, { security }] of operations) expect(security, name).toBeDefined();
  });
});

describe.each(kinds)('$schema', ({ operation, schema, check, good, bad }) => {
  const requests = operations.get(operation)!.requestBody!.content;

  test('the examples of a request schema are accepted by the schema and by the service', () => {
    const examples = Object.values(requests).flatMap(({ examples = {} }) => Object.values(examples));
    expect(examples.length).toBeGreaterThan(1);
    for (const { summary, value } of examples) {
      const json = typeof value === 'string' ? value : JSON.stringify(value);
      expect(() => check(json), summary).not.toThrow();
      expect(conforms(schema, JSON.parse(json)), summary).toBe(true);
    }
  });

  test.each(good)('the schema accepts a request that the service accepts: $name', (request) => {
    expect(conforms(schema, parseJson(request))).toBe(true);
  });

  const misshapen = bad.filter(({ code }) => ofShape.test(code)).filter(({ name }) => !beyondSchemas.test(name));
  test.each(misshapen)('the schema refuses a request that the service refuses: $name', (request) => {
    expect(conforms(schema, parseJson(request))).toBe(false);
  });

  test.each(bad)(
    'the document lists the status $status and the code $code for a refused request: $name',
    ({ status, code }) => {
      expect(listProblems(operation).get(code)).toMatchObject({ status, code });
    },
  );
});

describe('Mint', () => {
  const mints: readonly unknown[] = [
    { identity: 'user-7' },
    { identity: '語'.repeat(256), groups: [], claims: {} },
    { identity: 'a', groups: Array(100).fill(''), claims: { a: 'x', '\n': 1.5, '': true }, more: null },
    { identity: 'a', claims: { b: null, c: 1 } },
  ];
  const none: readonly unknown[] = [
    null,
    [],
    {},
    { identity: 7 },
    { identity: '' },
    { identity: 'n'.repeat(257) },
    { identity: 'a\n' },
    { identity: 'a', groups: 'b' },
    { identity: 'a', groups: [1] },
    { identity: 'a', groups: Array(101).fill('') },
    { identity: 'a', claims: [] },
    { identity: 'a', claims: { b: {} } },
    { identity: 'a', claims: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`n${n}`, n])) },
  ];

  test('the examples of the schema Mint are accepted by the schema and by the service', () => {
    const { examples = {} } = operations.get('POST /api/frontend/identities')!.requestBody!.content[
      'application/json'
    ]!;
    for (const value of [...mints, ...Object.values(examples).map((example) => example.value)]) {
      expect(() => checkMint(value)).not.toThrow();
      expect(conforms('Mint', value)).toBe(true);
    }
  });

  test.each(none.map((value) => [value]))(
    'the schema Mint and the service refuse the request for an instance id %j',
    (value) => {
      expect(() => checkMint(value)).toThrow(Refusal);
      expect(conforms('Mint', value)).toBe(false);
    },
  );
});

test('every example of a response of the metrics host has the documented shape', () => {
  const { wrong, seen } = checkExamples(document);
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(40);
});

test('the document of the metrics host contains only the known example keys', () => {
  const keys = JSON.stringify(openapi).match(/fm_(fe|mo|be|in)_\w+/g) ?? [];
  const known: readonly string[] = Object.values(exampleKeys);
  expect(keys.filter((key) => !known.includes(key))).toEqual([]);
});

/** Refusals that a schema can express. Other refusals are about bytes and headers, or about stored records. */
const ofShape = /^invalid_(body|name|time)/;

/** Names of violations that JSON Schema cannot describe: lengths in bytes, lone surrogates. */
const beyondSchemas = /260 bytes|half a character/;

const fills: Fills = {
  frontendKey: 'frontend-key',
  mobileKey: 'mobile-key',
  backendKey: 'backend-key',
  revokedKey: 'revoked-key',
  environment: 'Production',
  instanceId: 'instance-id',
  ...timeFills(Date.UTC(2026, 0, 31, 12)),
};

/** Returns the JSON value of a fixture, as `JSON.parse` would return it. */
function parseJson({ gzip: _, ...request }: PacketRequest): unknown {
  return JSON.parse(new TextDecoder().decode(bodyOf(request, fills)));
}
