import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { describeManagementApi } from '../../src/management/document.ts';
import { brokenReferences, checkExamples } from '../support/openapi.ts';
import { bodyDepartures, closed, departures } from './support/conformance.ts';
import { openapi, operations } from './support/openapi-document.ts';
import { routes } from './support/routes.ts';

describe('the OpenAPI document', () => {
  test('the OpenAPI document is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(openapi) as Record<string, unknown>);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  test('the OpenAPI document has every endpoint of the API, and the other routes of its host', () => {
    const rows = routes.map((name) => name.replace(' ', ' /api/v2').replace(/:(\w+)/g, '{$1}'));
    const others = ['POST /api/account/invalidate-token', 'GET /api/v2/openapi.json'];
    expect([...operations.keys()].sort()).toEqual([...rows, ...others].sort());
  });

  test('the OpenAPI document has no dangling references', () => {
    expect(brokenReferences(openapi)).toEqual([]);
  });

  test('the examples of responses in the OpenAPI document have the documented shape', () => {
    const { wrong, seen } = checkExamples(closed);
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(300);
  });

  test('the OpenAPI document gives every operation a unique name', () => {
    const names = [...operations.values()].map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(operations.size);
  });

  test('the OpenAPI document has the scope and the addresses of its deployment', () => {
    const settings = { issuer: 'https://auth.test', audience: 'https://api.test/x', serviceScope: 'flags' };
    expect(describeManagementApi(settings)).toMatchObject({
      servers: [{ url: 'https://api.test/x' }],
      security: [{ oauth2: ['flags'] }],
      components: {
        securitySchemes: {
          oauth2: {
            flows: {
              clientCredentials: { tokenUrl: 'https://auth.test/connect/token', scopes: { flags: expect.any(String) } },
            },
          },
        },
      },
    });
  });
});

/** Other tests compare all responses with the document. These tests show that the comparison detects deviations. */
describe('createConformance', () => {
  const operation = 'POST /api/v2/applications/{id}/environments';
  const good = {
    status: 201,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', location: '/x' },
    text: JSON.stringify({ name: 'Test', createdAt: '2026-01-31T12:00:00.000Z' }),
  };

  test('the conformance check accepts a response and a body that match the document', () => {
    expect(departures(operation, good)).toEqual([]);
    expect(bodyDepartures(operation, '{"name":"Test"}')).toEqual([]);
  });

  test.each([
    ['an undocumented status', { ...good, status: 202 }],
    ['an undocumented header', { ...good, headers: { ...good.headers, etag: '"x"' } }],
    ['a missing header', { ...good, headers: { ...good.headers, location: undefined } }],
    ['an undocumented content type', { ...good, headers: { ...good.headers, 'content-type': 'text/plain' } }],
    ['an undocumented field', { ...good, text: good.text.replace('{', '{"number":1,') }],
    ['a missing field', { ...good, text: '{"name":"Test"}' }],
    ['an invalid time', { ...good, text: '{"name":"Test","createdAt":"now"}' }],
  ])('the conformance check detects a response with %s', (_name, response) => {
    const headers = Object.entries(response.headers).filter((each): each is [string, string] => each[1] !== undefined);
    expect(departures(operation, { ...response, headers: Object.fromEntries(headers) })).toHaveLength(1);
  });

  test.each(['{}', '{"name":""}', '{"name":"Test","number":1}'])(
    'the conformance check detects the undocumented body %s',
    (body) => {
      expect(bodyDepartures(operation, body)).toHaveLength(1);
    },
  );
});
