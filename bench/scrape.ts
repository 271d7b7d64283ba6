import { setTimeout as pause } from 'node:timers/promises';
import { cleanUp, createApplication, createKey, stop, token } from '../test/support/binary.ts';
import { readOpenApi } from '../test/support/openapi.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { type Service, startService } from './service.ts';

/** Measures `GET /metrics` for many applications with packets, after a request to every route. */
export const scrape: Benchmark = {
  summary: 'GET /metrics with many applications, after a request to every route',
  usage: '[--json] [--applications 1000] [--scrapes 20] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const options = readOptions(args, { applications: 1000, scrapes: 20 }, { applications: 5, scrapes: 2 });
    try {
      const service = await startService(options.binary);
      const access = await token(service.http, service.credentials);
      // The service already has one application, so the loop starts at 1. A team can have at most 1 000.
      for (let at = 1; at < options.applications; at += 1) await useApplication(service, access, at);
      await askEveryRoute(service);
      const { times, text } = await timeScrapes(service, options.scrapes);
      print(options.json, times, text, options.applications);
      await stop(service);
    } finally {
      cleanUp();
    }
  },
};

async function useApplication({ http }: Service, access: string, at: number): Promise<void> {
  const application = await createApplication(http, access, { name: `Application ${at}` });
  const { key } = await createKey(http, access, application, 'Frontend');
  await fetch(`http://${http}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { origin: 'https://shop.example' },
    body: JSON.stringify({ k: key, e: 'Production', f: { checkout: { on: [1] } } }),
  });
}

/** Requests every route, because a route has metrics only after its first request. */
async function askEveryRoute({ http }: Service): Promise<void> {
  for (const path of ['/swagger/v2/swagger.json', '/connect/openapi.json', '/api/v2/openapi.json']) {
    const { operations } = readOpenApi((await (await fetch(`http://${http}${path}`)).json()) as object);
    for (const name of operations.keys()) {
      const [method = '', route = ''] = name.split(' ');
      await (await fetch(`http://${http}${route.replaceAll(/[{}]/g, '')}`, { method })).arrayBuffer();
    }
  }
}

async function timeScrapes({ http }: Service, scrapes: number) {
  const times: number[] = [];
  let text = '';
  for (let at = 0; at < scrapes; at += 1) {
    await pause(1_000); // Waits because the response to `GET /metrics` is cached for a second.
    const before = performance.now();
    text = await (await fetch(`http://${http}/metrics`)).text();
    times.push(performance.now() - before);
  }
  return { times, text };
}

function print(json: boolean, times: readonly number[], text: string, applications: number): void {
  const sorted = times.toSorted((a, b) => a - b);
  const result = {
    medianMs: round(median(times), 2),
    p99Ms: round(sorted[Math.floor(0.99 * (sorted.length - 1))]!, 2),
    applications,
    series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    kB: round(text.length / 1000, 1),
  };
  show(json, result, [
    ['a scrape, median', `${result.medianMs} ms`],
    ['99 %', `${result.p99Ms} ms`],
    ['applications', `${result.applications}`],
    ['series', `${result.series}`],
    ['size', `${result.kB} kB`],
  ]);
}
