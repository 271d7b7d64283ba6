import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Credentials, createApplication, createKey, manage, token } from './binary.ts';
import { metricsReport, usageReport } from './report-messages.ts';
import { openTransports, type ReportTransport } from './report-transports.ts';

interface Target {
  readonly http: string;
  readonly grpc: string;
  readonly credentials: Credentials;
  stop(): Promise<unknown>;
}

const transports = ['JSON', 'gRPC', 'gRPC-Web'];

/** Declares tests that send the same reports to a service by every transport, and compare the counts. */
export function describeOneTruth(name: string, start: () => Promise<Target>): void {
  describe(`the same report to ${name}`, () => {
    let target: Target;
    let access: string;
    let open: readonly ReportTransport[];
    /** A time with microseconds. It lets the service recognise repetitions of a report. */
    const time = `${new Date().toISOString().slice(0, 19)}.125250Z`;
    const usage = { ...usageReport, time };
    const metrics = {
      ...metricsReport,
      time,
      observations: metricsReport.observations.map((each) => ({ ...each, time })),
    };

    beforeAll(async () => {
      target = await start();
      access = await token(target.http, target.credentials);
      open = openTransports(target);
    });
    afterAll(async () => {
      for (const transport of open ?? []) transport.close();
      await target?.stop();
    });

    const application = async () => {
      const id = await createApplication(target.http, access, { name: 'servers' });
      return { id, appKey: (await createKey(target.http, access, id, 'Backend')).key };
    };
    const read = async (id: string, path: string) => {
      const url = `/api/v2/applications/${id}/${path}?environment=Production&step=hour`;
      return manage(target.http, access, 'GET', url, 200);
    };
    const counted = async (id: string) => ({
      usage: await read(id, 'usage'),
      measurements: await read(id, 'measurements'),
    });

    it('every transport returns the same response to the report, and leads to the same counts', async () => {
      const results = [];
      for (const transport of open) {
        const { id, appKey } = await application();
        expect(await transport.usage({ ...usage, appKey })).toBe(2);
        expect(await transport.metrics({ ...metrics, appKey })).toBe(1);
        results.push(await counted(id));
      }
      expect(open.map((transport) => transport.name)).toEqual(transports);
      expect(results[0]).toMatchObject(expected);
      for (const result of results) expect(withoutRange(result)).toEqual(withoutRange(results[0]));
    });

    it('a report that is sent by several transports is counted once', async () => {
      const { id, appKey } = await application();
      for (const transport of open) expect(await transport.usage({ ...usage, appKey })).toBe(2);
      expect(await counted(id)).toMatchObject({ usage: expected.usage, measurements: { metrics: [] } });
    });

    it.each(transports)('%s refuses the report if the key is unknown', async (name) => {
      const transport = open.find((each) => each.name === name)!;
      await expect(transport.usage(usage)).rejects.toThrow(/404|^5: |NotFound/);
    });
  });
}

/** The expected sums of the reports. */
const expected = {
  measurements: {
    metrics: [
      { metric: 'sales', feature: 'checkout', variant: 'enabled', sum: 12.5 },
      { metric: 'sales', feature: 'checkout', variant: 'disabled', sum: -3 },
      { metric: 'requests', sum: 17 },
      { metric: 'errors', sum: 6 },
      { metric: 'visits', count: 2, sum: 8 },
      { metric: 'queue', last: 0.1 },
      { metric: 'depth', count: 2, sum: 5, min: 2, max: 3, last: 3 },
      { metric: 'size', feature: 'search', variant: 'small', last: 1 },
      { metric: 'size', feature: 'search', variant: 'large', last: 1e300 },
    ],
  },
  usage: {
    features: [
      {
        feature: 'checkout',
        variants: [
          { variant: 'on', checks: 3, used: 2, viewed: 1 },
          { variant: 'Größe-L', checks: 2_147_483_647, used: 0, viewed: 0 },
        ],
      },
      {
        feature: 'search',
        variants: [
          { variant: 'enabled', checks: 5, used: 4, viewed: 0 },
          { variant: 'disabled', checks: 1, used: 0, viewed: 0 },
        ],
      },
    ],
  },
};

/** Removes the range from a result, because the range changes with the clock. */
function withoutRange(result: unknown): unknown {
  return JSON.parse(JSON.stringify(result, (key, value) => (key === 'from' || key === 'to' ? undefined : value)));
}
