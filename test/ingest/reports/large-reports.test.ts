import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApplication, createKey, token, usage } from '../../support/binary.ts';
import { readRefusals } from '../../support/ledger-report.ts';
import { opened } from '../../support/opened.ts';
import { openTransports, type ReportBody, type ReportTransport } from '../../support/report-transports.ts';
import { startLocal } from '../../support/service.ts';

/** Default of `--max-report`. */
const maxReport = 4 * 1024 * 1024;

const service = opened(startLocal);
let access: string;
let transports: readonly ReportTransport[];

beforeAll(async () => {
  access = await token(service.http, service.credentials);
  transports = openTransports(service);
});
afterAll(async () => {
  for (const transport of transports) transport.close();
});

/** Creates user hashes such as senders create: any 32 bits, about ten bytes each in JSON and in protobuf. */
function hashes(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, n) => Math.imul(from + n + 1, 0x9e3779b1));
}

const createStats = (features: number, users: number) =>
  Array.from({ length: features }, (_, n) => ({
    feature: `feature-${n}`,
    enabledCount: users,
    uniqueUserHashes: hashes(users, n * users),
  }));

async function openShop() {
  const id = await createApplication(service.http, access, { name: 'large', rate: 0 });
  const { key } = await createKey(service.http, access, id, 'Backend');
  const report = (stats: object[]): ReportBody => ({
    appKey: key,
    environment: 'Production',
    time: new Date().toISOString(),
    stats,
  });
  return { id, report };
}

describe.each(['JSON', 'gRPC', 'gRPC-Web'])('large reports by %s', (name) => {
  const transport = () => transports.find((each) => each.name === name)!;

  test.each([
    ['4 492 users of one feature', 1, 4_492],
    ['20 users each of 391 features', 391, 20],
  ])('counts all entries of a report with %s', async (_, features, users) => {
    const { id, report } = await openShop();
    expect(await transport().usage(report(createStats(features, users)))).toBe(features);
    const day = 86_400_000;
    const today = Math.floor(Date.now() / day) * day;
    const { features: counted } = await usage(service.http, access, id, {
      environment: 'Production',
      from: new Date(today - day),
      to: new Date(today + 2 * day),
      step: 'day',
    });
    expect(counted).toHaveLength(features);
    for (const { checks, uniqueUsers } of counted) {
      expect(checks).toBe(users);
      expect(Math.abs(uniqueUsers / users - 1)).toBeLessThan(0.02);
    }
  });

  test('refuses a report over the limit and records it in the ledger of its application', async () => {
    const { id, report } = await openShop();
    const body = { ...report([]), appVersion: 'x'.repeat(maxReport) };
    await expect(transport().usage(body)).rejects.toThrow('at most');
    if (name !== 'gRPC') return; // The other transports do not read the body, so the sender is unknown.
    const { entries } = await readRefusals(service.http, access, id, 1);
    expect(entries).toMatchObject([{ status: 413, code: 'body_too_large' }]);
  });
});
