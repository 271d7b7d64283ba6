import { issueAccessToken } from '../../src/auth/oauth/tokens.ts';
import { routesFrom } from '../../src/http/endpoint.ts';
import { createRouter } from '../../src/http/router.ts';
import { addPacket } from '../../src/ingest/formats/telemetry/add-packet.ts';
import { checkPacket } from '../../src/ingest/formats/telemetry/packet.ts';
import { managementApi } from '../../src/management/management-api.ts';
import type { Services } from '../../src/management/services.ts';
import { createReports } from '../../src/reports/make-report.ts';
import type { ReportPool } from '../../src/reports/report-pool.ts';
import { SharedSights } from '../../src/reports/shared-sightings.ts';
import { Histogram } from '../../src/runtime/histogram.ts';
import { createAggregator } from '../../src/storage/commit/aggregator.ts';
import { Batch } from '../../src/storage/commit/batch.ts';
import { type EnvironmentSeries, SeriesDictionary } from '../../src/storage/commit/series-dictionary.ts';
import { bucketWidth, encodeBucket } from '../../src/storage/lmdb/blocks.ts';
import type { Reading } from '../../src/storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../src/storage/lmdb/usage.ts';
import type { JsonResponse, RequestDeps } from '../auth/fixture.ts';
import { readExport } from '../reports/exports/read-chunks.ts';
import { finish } from '../support/finish.ts';
import { temporaryUsage } from '../support/temporary-usage.ts';
import { callerDeps, type ManageFixture, openManageFixture } from './fixture.ts';
import { send } from './support/documented-send.ts';

const dayMs = 86_400_000;

/** A fixture for features and metrics of an application, which are declared or seen in packets. */
export interface Registry extends ManageFixture {
  /** Sends a request below the application, by default as its User; a body is sent as JSON. */
  ask(method: string, path: string, body?: unknown, headers?: RequestDeps['headers']): Promise<JsonResponse>;
  readonly usage: UsageTables;
  /** Reads all names of a list, in pages of two. Calls `between` after each page. */
  names(path: string, between?: () => Promise<unknown>): Promise<string[]>;
  /** Counts a packet of an environment at the current time of the clock. */
  see(packet: { f?: object; m?: object }, environment?: string): void;
  /** Counts a metric of a feature, as a report would. */
  seeFeatureMetric(feature: string, metric: string, value: number): void;
}

/**
 * Opens a registry in which features are stale after 30 days. An environment is limited to three features and two
 * metrics.
 */
export async function openRegistry(): Promise<Registry> {
  const fixture = await openManageFixture();
  const { directory, settings, clock, application, team } = fixture;
  const store = temporaryUsage();
  const { write } = createAggregator(store);
  const dictionary = new SeriesDictionary(store, { features: 3, variants: 64, metrics: 2 });
  const pool = reportsInThisThread(store);
  const services = {
    ...callerDeps(fixture),
    reports: pool,
    sights: new SharedSights(pool),
    staleAfterMs: 30 * dayMs,
    accounts: fixture.store,
    retention: { minutesMs: dayMs, hoursMs: 9 * dayMs, daysMs: 99 * dayMs },
  };
  const dispatch = createRouter(routesFrom(managementApi, services as unknown as Services));
  const { clientId: sub } = (await fixture.addClient('User')).apiKey;
  const claims = { sub, client_id: sub, scope: 'openid flagmeter', team: [team.id], primaryTeam: team.id };
  const ask: Registry['ask'] = async (method, path, body, headers = {}) => {
    // Each request has a new token, because tests advance the clock beyond the expiry of a token.
    const token = await issueAccessToken(settings, { ...claims, role: 'User' });
    return send(dispatch, `/api/v2/applications/${application.id}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: body === undefined ? '' : JSON.stringify(body),
    });
  };
  const count = (name: string, add: (series: EnvironmentSeries, batch: Batch) => void) => {
    const { environments } = directory.applications.get(application.id)!;
    const { number } = environments.find((environment) => environment.name === name)!;
    const batch = new Batch();
    add(dictionary.of(number), batch);
    write(batch.seal());
  };
  return {
    ...fixture,
    usage: store,
    ask,
    async names(path, between = async () => {}) {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = `limit=2${cursor && `&cursor=${cursor}`}`;
        const { json } = await ask('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`);
        seen.push(...json.items.map(({ name }: { name: string }) => name));
        cursor = json.nextCursor;
        await between();
      }
      return seen;
    },
    see(packet, environment = 'Production') {
      const checked = checkPacket({ k: 'k', e: environment, ...packet });
      count(environment, (series, batch) => addPacket(checked, series, batch, clock.now()));
    },
    seeFeatureMetric(feature, metric, value) {
      const bucket = encodeBucket(bucketWidth.minute, Math.floor(clock.now() / 60_000));
      count('Production', (series, batch) =>
        batch.measurements.add(series.featureMetric(metric, feature, 'on', batch)!, bucket, value, clock.now()),
      );
    },
  };
}

/** Computes reports in this thread. Tasks and results are copied as if they were sent between threads. */
function reportsInThisThread(store: UsageTables): ReportPool {
  const reports = createReports(store);
  return {
    make: async (_teamId, name, task) => {
      const reading = reports[name](structuredClone(task) as never) as Reading<never>;
      return structuredClone(await finish(reading));
    },
    delays: new Histogram(),
    export: async (_teamId, name, task, format) => {
      const chunks = readExport(store, { name, task: structuredClone(task), format });
      return { next: async () => chunks.next().value ?? undefined, stop: () => {} };
    },
    close: async () => {},
  };
}
