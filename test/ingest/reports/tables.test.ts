import { beforeAll, describe, expect, test } from 'vitest';
import { allowedOrigins, type Fills, sendPacket } from '../../fixtures/packets/request.ts';
import { badMetrics, badUsage } from '../../fixtures/reports/bad.ts';
import { goodMetrics, goodUsage } from '../../fixtures/reports/good.ts';
import { timeFills } from '../../fixtures/reports/times.ts';
import { createApplication, createKey, manage, token } from '../../support/binary.ts';
import { opened } from '../../support/opened.ts';
import { startLocal } from '../../support/service.ts';

const service = opened(() => startLocal({ args: ['--max-report', '64KiB'] }));
let access: string;
let id: string;
let fills: Fills;

beforeAll(async () => {
  access = await token(service.http, service.credentials);
  id = await createApplication(service.http, access, { name: 'reports', allowedOrigins, rate: 0 });
  const key = async (type: 'Frontend' | 'Mobile' | 'Backend') => createKey(service.http, access, id, type);
  const revoked = await key('Backend');
  await manage(service.http, access, 'DELETE', `/api/v2/applications/${id}/keys/${revoked.id}`, 204);
  fills = {
    frontendKey: (await key('Frontend')).key,
    mobileKey: (await key('Mobile')).key,
    backendKey: (await key('Backend')).key,
    revokedKey: revoked.key,
    environment: 'Production',
    instanceId: 'unknown-instance',
    ...timeFills(Date.now()),
  };
});

const read = (path: string) =>
  manage(service.http, access, 'GET', `/api/v2/applications/${id}/${path}?environment=Production&step=hour`, 200);

const kinds = [
  { path: '/api/usage/stats', bad: badUsage },
  { path: '/api/metrics', bad: badMetrics },
];

describe.each(kinds)('POST $path', ({ path, bad }) => {
  test.each(bad)('refuses a report with $status $code: $name', async (report) => {
    const response = await sendPacket(`http://${service.http}${path}`, report, fills);
    expect({ status: response.status, code: JSON.parse(response.text).code }).toEqual({
      status: report.status,
      code: report.code,
    });
    if (report.detail !== undefined) expect(JSON.parse(response.text).detail).toBe(report.detail);
    expect(response.headers['content-type']).toBe('application/problem+json');
    for (const key of [fills.backendKey, fills.revokedKey]) expect(response.text).not.toContain(key);
  });

  test('counts nothing of a refused report', async () => {
    expect(await read('usage')).toMatchObject({ features: [] });
    expect(await read('measurements')).toMatchObject({ metrics: [] });
  });

  test('refuses preflights and sends no CORS headers', async () => {
    const origin = 'https://app.example.com';
    const preflight = await fetch(`http://${service.http}${path}`, { method: 'OPTIONS', headers: { origin } });
    expect(preflight.status).toBe(405);
    const post = await fetch(`http://${service.http}${path}`, { method: 'POST', headers: { origin }, body: '' });
    for (const { headers } of [preflight, post]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });
});

describe('POST /api/usage/stats', () => {
  test.each(goodUsage)('accepts a usage report: $name', async (report) => {
    const response = await sendPacket(`http://${service.http}/api/usage/stats`, report, fills);
    expect(response).toMatchObject({ status: 200, text: JSON.stringify({ featureCount: report.featureCount }) });
    expect(response.headers['content-type']).toBe('application/json');
  });

  test('counts the features and variants of all accepted usage reports exactly', async () => {
    const expected = new Map<string, number[]>();
    for (const [feature, variant, ...counts] of goodUsage.flatMap((report) => report.counts)) {
      const sums = expected.get(`${feature}/${variant}`) ?? [0, 0, 0];
      expected.set(
        `${feature}/${variant}`,
        sums.map((sum, index) => sum + counts[index]!),
      );
    }
    const { features } = (await read('usage')) as {
      features: { feature: string; variants: { variant: string; checks: number; used: number; viewed: number }[] }[];
    };
    const counted = features.flatMap(({ feature, variants }) =>
      variants.map(({ variant, checks, used, viewed }) => [`${feature}/${variant}`, [checks, used, viewed]] as const),
    );
    expect(new Map<string, readonly number[]>(counted)).toEqual(expected);
  });
});

describe('POST /api/metrics', () => {
  test.each(goodMetrics)('accepts a metrics report: $name', async (report) => {
    const response = await sendPacket(`http://${service.http}/api/metrics`, report, fills);
    expect(response).toMatchObject({ status: 200, text: JSON.stringify({ count: report.count }) });
  });

  test('keeps the sum, count, minimum and maximum of every metric series', async () => {
    const expected = new Map<string, number[]>();
    for (const [metric, feature, variant, value] of goodMetrics.flatMap((report) => report.values)) {
      const series = [metric, feature, variant].join('/');
      expected.set(series, [...(expected.get(series) ?? []), value]);
    }
    const { metrics } = (await read('measurements')) as {
      metrics: {
        metric: string;
        feature?: string;
        variant?: string;
        sum: number;
        count: number;
        min: number;
        max: number;
      }[];
    };
    const kept = metrics.map(({ metric, feature = '', variant = '', sum, count, min, max }) => [
      [metric, feature, variant].join('/'),
      { sum, count, min, max },
    ]);
    const wanted = [...expected].map(([series, values]) => [
      series,
      {
        sum: values.reduce((sum, value) => sum + value),
        count: values.length,
        min: Math.min(...values),
        max: Math.max(...values),
      },
    ]);
    expect(Object.fromEntries(kept)).toEqual(Object.fromEntries(wanted));
  });
});

describe('Flagmeter-Noted header', () => {
  test.each([
    [
      '/api/usage/stats',
      '"stats":[{"feature":"part","variantStats":{"on":{"checkCount":3000000000}}}]',
      'value_dropped; stats[0].variantStats.on.checkCount',
    ],
    ['/api/usage/stats', '"stats":[{"feature":"a\\nb","enabledCount":1}]', 'name_dropped; stats["a\\nb"].enabled'],
    ['/api/usage/stats', '"stats":[]', undefined],
    ['/api/metrics', '"stats":[{"metric":"caf\\u00e9\\ud800","value":1}]', 'name_dropped; ["caf\\u00e9\\ud800"]'],
    ['/api/metrics', '"stats":[{"metric":"part"}]', 'value_missing; part'],
  ])('the response of %s names the first omitted entry of a report with %s', async (path, fields, noted) => {
    const head = '"appKey":"{{backendKey}}","environment":"{{environment}}","time":"{{time}}"';
    const report = { name: '', headers: { 'content-type': 'application/json' }, body: `{${head},${fields}}` };
    const { status, headers } = await sendPacket(`http://${service.http}${path}`, report, fills);
    expect([status, headers['flagmeter-noted']]).toEqual([200, noted]);
    expect(headers['access-control-expose-headers']).toBeUndefined();
  });
});
