import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { badPackets } from '../fixtures/packets/bad.ts';
import { goodPackets } from '../fixtures/packets/good.ts';
import { packetsInPart } from '../fixtures/packets/in-part.ts';
import { allowedOrigins, type Fills, sendPacket } from '../fixtures/packets/request.ts';
import { type Credentials, createApplication, createKey, manage, token } from './binary.ts';

export interface Target {
  readonly http: string;
  /** Address of the metrics host, if it has a listener of its own. */
  readonly metrics?: string;
  readonly credentials: Credentials;
  stop(): Promise<unknown>;
}

interface Application {
  readonly access: string;
  readonly id: string;
  readonly fills: Fills;
}

/** Creates an application as the tables of packets require it. */
async function createFixtureApplication({ http, credentials }: Target): Promise<Application> {
  const access = await token(http, credentials);
  const fields = { name: 'fixtures', allowedOrigins, acceptClientIdentities: true, rate: 0 };
  const id = await createApplication(http, access, fields);
  const revoked = await createKey(http, access, id, 'Frontend');
  await manage(http, access, 'DELETE', `/api/v2/applications/${id}/keys/${revoked.id}`, 204);
  const text = async (type: 'Frontend' | 'Mobile' | 'Backend') => (await createKey(http, access, id, type)).key;
  const fills = {
    frontendKey: await text('Frontend'),
    mobileKey: await text('Mobile'),
    backendKey: await text('Backend'),
    revokedKey: revoked.key,
    environment: 'Production',
    instanceId: 'unknown-instance',
  };
  return { access, id, fills };
}

interface Report {
  readonly features: readonly {
    readonly feature: string;
    readonly variants: readonly { variant: string; checks: number; used: number; viewed: number }[];
  }[];
}

interface NotedRefusal {
  readonly code: string;
  readonly count: number;
  readonly example: { readonly detail: string };
}

const countedPackets = [...goodPackets, ...packetsInPart];

/** Declares tests that send every packet of the tables to a service, and check the counts. */
export function describePackets(name: string, start: () => Promise<Target>): void {
  describe(`telemetry of ${name}`, () => {
    let target: Target;
    let application: Application;
    const url = () => `http://${target.metrics ?? target.http}/api/frontend/telemetry`;
    const read = async (path: string) => {
      const query = 'environment=Production&step=hour';
      return manage(
        target.http,
        application.access,
        'GET',
        `/api/v2/applications/${application.id}/${path}?${query}`,
        200,
      );
    };

    beforeAll(async () => {
      target = await start();
      application = await createFixtureApplication(target);
    });
    afterAll(async () => {
      await target?.stop();
    });

    test.each(badPackets)('the service refuses the packet $name with $status $code', async (packet) => {
      const response = await sendPacket(url(), packet, application.fills);
      expect(response.status).toBe(packet.status);
      expect(response.headers['content-type']).toBe('application/problem+json');
      const body = JSON.parse(response.text);
      expect(body).toMatchObject({ status: packet.status, code: packet.code });
      if (packet.detail !== undefined) expect(body.detail).toBe(packet.detail);
      for (const key of ['frontendKey', 'mobileKey', 'backendKey', 'revokedKey'] as const) {
        expect(response.text).not.toContain(application.fills[key]);
      }
    });

    test('the service counts nothing of refused packets', async () => {
      expect(await read('usage')).toMatchObject({ features: [] });
      expect(await read('measurements')).toMatchObject({ metrics: [] });
    });

    test.each(countedPackets)('the service accepts the packet $name', async (packet) => {
      const response = await sendPacket(url(), packet, application.fills);
      expect(response).toMatchObject({ status: 202, text: '' });
      expect(response.headers['flagmeter-noted']).toBe(packet.noted);
      const isReadable = packet.noted !== undefined && packet.headers['origin'] !== undefined;
      expect(response.headers['access-control-expose-headers']).toBe(isReadable ? 'Flagmeter-Noted' : undefined);
    });

    test('the service counts exactly the accepted packets', async () => {
      const expected = new Map<string, [number, number, number]>();
      for (const [feature, variant, ...counts] of countedPackets.flatMap((packet) => packet.counts)) {
        const sums = expected.get(`${feature}/${variant}`) ?? [0, 0, 0];
        expected.set(`${feature}/${variant}`, [sums[0] + counts[0], sums[1] + counts[1], sums[2] + counts[2]]);
      }
      const report = (await read('usage')) as Report;
      const counted = report.features.flatMap(({ feature, variants }) =>
        variants.map(({ variant, checks, used, viewed }) => [`${feature}/${variant}`, [checks, used, viewed]] as const),
      );
      expect(new Map<string, readonly number[]>(counted)).toEqual(expected);
    });

    test('the ledger notes each packet that has an omitted entry, and keeps an example', async () => {
      const { entries } = (await read('ingest')) as { entries: readonly NotedRefusal[] };
      const noted = countedPackets.flatMap((packet) => packet.noted ?? []);
      for (const code of ['value_dropped', 'name_dropped', 'field_unknown', 'instance_dropped']) {
        const of = noted.filter((each) => each.startsWith(`${code}; `));
        const notes = entries.filter((entry) => entry.code === code);
        expect(
          notes.reduce((sum, { count }) => sum + count, 0),
          code,
        ).toBe(of.length);
        for (const { example } of notes)
          expect(of.some((each) => each.includes(example.detail.slice(0, 190)))).toBe(true);
      }
    });

    test('the service keeps the sum, last, smallest and greatest value of every metric', async () => {
      const expected = new Map<string, { sum: number; count: number; last: number; min: number; max: number }>();
      for (const [metric, value] of countedPackets.flatMap((packet) => packet.metrics)) {
        const known = expected.get(metric);
        expected.set(metric, {
          sum: (known?.sum ?? 0) + value,
          count: (known?.count ?? 0) + 1,
          last: value,
          min: Math.min(known?.min ?? value, value),
          max: Math.max(known?.max ?? value, value),
        });
      }
      const report = (await read('measurements')) as { metrics: ({ metric: string } & Record<string, number>)[] };
      expect(report.metrics.map(({ metric }) => metric).sort()).toEqual([...expected.keys()].sort());
      for (const { metric, ...values } of report.metrics)
        expect(values, metric).toMatchObject(normal(expected.get(metric)!));
    });
  });
}

/** Converts negative zero to zero, because JSON has no negative zero. */
function normal<T extends Record<string, number>>(values: T): T {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value + 0])) as T;
}
