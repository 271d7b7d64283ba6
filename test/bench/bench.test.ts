import { describe, expect, it } from 'vitest';
import { runBenchmark as bench } from '../support/benchmarks.ts';
import { needing } from '../support/needing.ts';

/** Runs a short benchmark. @returns the figures that the benchmark prints */
async function result(name: string, ...options: string[]): Promise<Record<string, number>> {
  const { code, stdout, stderr } = await bench(name, '--small', '--json', ...options);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout) as Record<string, number>;
}

describe('npm run bench', () => {
  it('npm run bench -- ingest measures accepted packets', async () => {
    const figures = await result('ingest');
    expect(Object.keys(figures)).toEqual([
      'floorRps',
      'rps',
      'ratio',
      'p50Ms',
      'p99Ms',
      'skeletonRatio',
      'rssMb',
      'cpuUsPerPacket',
      'commits',
      'connections',
    ]);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    expect(figures['p99Ms']).toBeGreaterThanOrEqual(figures['p50Ms'] ?? Number.NaN);
    expect(figures['connections']).toBe(8);
  });

  it.each([
    ['messages of Unleash SDKs', 'unleash'],
    ['logs of OpenTelemetry', 'otlp'],
    ['an import', 'import'],
    ['the steps of a packet', 'steps'],
    ['larger machines', 'model'],
    ['several numbers of front-end threads', 'threads', '--threads', '0,2'],
  ])('npm run bench measures %s', async (_, name, ...options) => {
    for (const [figure, value] of Object.entries(await result(name!, ...options)))
      expect(value, figure).toBeGreaterThan(0);
  });

  it('npm run bench measures several nodes, and calculates the limits of larger clusters', async () => {
    const sections = ['growth', 'away', 'changes', 'limits'];
    const { code, stdout, stderr } = await bench('cluster', ...sections, '--small', '--json');
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const { figures } = JSON.parse(stdout) as { figures: { name: string; value: number }[] };
    for (const { name, value } of figures) expect(value, name).toBeGreaterThan(0);
    expect(figures.filter(({ name }) => /^(?:bytes|entries) (?:a second|at) /.test(name))).toHaveLength(4);
    for (const nodes of [2, 4, 10])
      expect(figures.filter(({ name }) => name.startsWith(`calculated, ${nodes} nodes:`))).toHaveLength(5);
  });

  it('npm run bench measures the accepted packets under overload', async () => {
    const { runs, ...figures } = (await result('overload')) as Record<string, unknown>;
    expect(Object.keys(figures)).toEqual(['capacity', 'peak', 'kept']);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    expect(runs).toHaveLength(3);
  });

  it('npm run bench measures the reports of the console', async () => {
    const { figures } = (await result('report')) as Record<string, unknown>;
    expect(figures).not.toEqual([]);
    for (const figure of figures as { coldMs: number; warmMs: number; kb: number }[]) {
      expect(figure.coldMs).toBeGreaterThan(0);
      expect(figure.warmMs).toBeGreaterThan(0);
      expect(figure.kb).toBeGreaterThan(0);
    }
  });

  it('npm run bench measures exports', async () => {
    const figures = (await result('export')) as Record<string, unknown>;
    expect(Object.keys(figures)).toEqual(['csv', 'ndjson']);
    for (const { rows, rowsPerSecond } of Object.values(figures) as Record<string, number>[]) {
      // There are twenty flags of three variants in about 48 hours. The first and the last hour can be incomplete.
      expect([2820, 2880, 2940]).toContain(rows);
      expect(rowsPerSecond).toBeGreaterThan(0);
    }
  });

  it.each(['watchers', 'one-port'])('npm run bench measures packets with the benchmark %s', async (benchmark) => {
    const figures = await result(benchmark);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
  });

  it('npm run bench measures backups, and packets during the backups', async () => {
    const { grownAloneMb, grownMb, ...figures } = await result('backup');
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    for (const grown of [grownAloneMb, grownMb]) expect(grown).toBeGreaterThanOrEqual(0);
  });

  it('npm run bench measures the memory of incomplete gRPC calls', async () => {
    const figures = await result('hostile-grpc');
    expect(Object.keys(figures)).toEqual(['calls', 'beforeMb', 'duringMb', 'peakMb', 'afterMb']);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
  });

  it('npm run bench measures the memory that unauthenticated senders use over HTTP', async () => {
    const { connections, shapes } = (await result('hostile-http')) as Record<string, unknown>;
    expect(connections).toBe(20);
    expect(shapes).toHaveLength(4);
    for (const shape of shapes as object[]) expect(shape).toMatchObject({ open: 20, others: '202' });
  });

  it('npm run bench measures the effect of expensive usage reports on another application', async () => {
    const { shapes } = (await result('hostile-reports')) as unknown as Record<string, object[]>;
    expect(shapes).toHaveLength(9);
    for (const shape of shapes!) expect(shape).toMatchObject({ p99Ms: expect.any(Number) });
  });

  it('npm run bench measures the effect of a noisy application on a quiet application', async () => {
    const figures = await result('noisy-neighbour');
    expect(Object.keys(figures)).toEqual([
      'noisyRps',
      'aloneP50Ms',
      'aloneP99Ms',
      'p50Ms',
      'p99Ms',
      'idleRssMb',
      'peakRssMb',
      'restedRssMb',
    ]);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
  });

  it('npm run bench measures token invalidations, and packets during the invalidations', async () => {
    const figures = await result('coexist');
    expect(Object.keys(figures)).toEqual([
      'invalidationsPerSecond',
      'invalidationP99Ms',
      'besidePerSecond',
      'besideP99Ms',
      'aloneP50Ms',
      'aloneP99Ms',
      'p50Ms',
      'p99Ms',
      'ratio',
    ]);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
  });

  it('npm run bench measures the minting of ids for users', async () => {
    const figures = await result('mint');
    expect(Object.keys(figures)).toEqual(['floorRps', 'rps', 'ratio', 'p50Ms', 'p99Ms', 'connections']);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    expect(figures['connections']).toBe(8);
  });

  it.each(['token', 'verify'])('npm run bench measures tokens: %s', async (name) => {
    const figures = await result(name);
    expect(Object.keys(figures)).toEqual(['floorRps', 'rps', 'ratio', 'p50Ms', 'p99Ms', 'connections']);
    for (const [what, value] of Object.entries(figures)) expect(value, what).toBeGreaterThan(0);
    expect(figures['connections']).toBe(8);
  });

  it('npm run bench measures gRPC', async () => {
    const figures = await result('grpc');
    expect(Object.keys(figures)).toEqual(['floorRps', 'rps', 'ratio', 'p50Ms', 'p99Ms', 'connections']);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    expect(figures['p99Ms']).toBeGreaterThanOrEqual(figures['p50Ms'] ?? Number.NaN);
    expect(figures['connections']).toBe(2);
  });

  it('npm run bench measures the startup time', async () => {
    const figures = await result('start');
    expect(Object.keys(figures)).toEqual(['startMs', 'minMs', 'maxMs', 'runs', 'series', 'binaryMb']);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    expect(figures).toMatchObject({ runs: 1, series: 1_000 });
  });

  it('npm run bench measures a scrape of the metrics', async () => {
    const figures = await result('scrape');
    expect(Object.keys(figures)).toEqual(['medianMs', 'p99Ms', 'applications', 'series', 'kB']);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    expect(figures).toMatchObject({ applications: 5 });
  });

  it('npm run bench measures the memory', async () => {
    const figures = await result('memory');
    expect(Object.keys(figures)).toEqual(['packets', 'series', 'idleRssMb', 'rssMb', 'peakRssMb']);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    expect(figures).toMatchObject({ packets: 2_000, series: 1_000 });
  });

  it('npm run bench measures resident memory while console pages are open', async () => {
    const { idle, most, end, count, statuses } = (await result('pages')) as unknown as Record<string, object>;
    for (const each of [idle, most, end])
      expect(each).toEqual({ rssMb: expect.any(Number), ownMb: expect.any(Number) });
    expect(count).toBeGreaterThan(0);
    expect(Object.keys(statuses!)).toContain('200');
  });

  needing('chromium-headless-shell').test(
    'npm run bench measures the pages, keys and clicks of the console',
    async () => {
      const { steps, interactions, packets } = (await result('clicks')) as unknown as {
        steps: readonly Readonly<Record<'name' | 'ms' | 'taskMs' | 'most', unknown>>[];
        interactions: object;
        packets: object;
      };
      expect(steps.length).toBeGreaterThan(20);
      const figure = expect.any(Number);
      for (const step of steps)
        expect(step).toEqual({ name: expect.any(String), ms: figure, taskMs: figure, most: figure });
      expect(interactions).toEqual({ count: figure, p98Ms: figure });
      expect(packets).toEqual({ p99Ms: figure, p99MsDuring: figure });
    },
  );

  it('npm run bench measures lookups and sweeps of the invalidation list', async () => {
    const figures = await result('invalidation');
    expect(Object.keys(figures)).toEqual([
      'tokens',
      'diskMb',
      'lookupNs',
      'listedNs',
      'emptyRssMb',
      'rssMb',
      'sweepSteps',
      'stepMs',
      'stepP99Ms',
      'longestStepMs',
    ]);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
    expect(figures).toMatchObject({ tokens: 2_000 });
  });

  it('npm run bench measures each processing step of a packet', async () => {
    const figures = await result('micro');
    const steps = ['parseNs', 'resolveNs', 'bucketNs', 'batchNs', 'mergeNs'];
    const writes = ['write20Ns', 'write2000Ns', 'write20000Ns'];
    expect(Object.keys(figures)).toEqual([...steps, ...writes]);
    for (const [name, value] of Object.entries(figures)) expect(value, name).toBeGreaterThan(0);
  });

  it('npm run bench measures the disk writes of a packet', async () => {
    const { runs, growth } = (await result('wear')) as unknown as { runs: Record<string, unknown>[]; growth: object };
    expect(growth).toEqual({ series: 210, minutesMb: expect.any(Number), dayMb: expect.any(Number) });
    expect(runs.map(({ kind, offered }) => [kind, offered])).toEqual([
      ['plain', 100],
      ['personal', 100],
    ]);
    for (const { perSecond, p50Ms, p99Ms } of runs)
      for (const figure of [perSecond, p50Ms, p99Ms]) expect(figure).toBeGreaterThan(0);
  });

  it('npm run bench measures the journal', async () => {
    const figures = await result('journal');
    expect(Object.keys(figures)).toEqual([
      ...['smallUs', 'smallPerSecond', 'largeUs', 'largePerSecond'],
      ...['replayMs', 'lastFrameMs', 'checksumMbPerSecond'],
    ]);
    expect(figures['smallPerSecond']).toBeGreaterThan(0);
    expect(figures['largePerSecond']).toBeGreaterThan(0);
  });

  it('npm run bench compares threads that share one journal with threads that have a journal each', async () => {
    const { results } = await result('producers', '--threads', '2');
    const figures = { packets: expect.any(Number), commits: expect.any(Number), flushes: expect.any(Number) };
    const measured = { ...figures, ms: expect.any(Number), cpuUs: expect.any(Number) };
    expect(results).toEqual([{ threads: 2, shared: measured, separate: measured }]);
  });
});

describe('the command line of the benchmarks', () => {
  it('the command line lists every benchmark', async () => {
    const { code, stdout } = await bench('help');
    expect(code).toBe(0);
    const names = 'ingest grpc mint noisy-neighbour overload token verify start scrape memory pages journal wear micro';
    for (const name of names.split(' ')) expect(stdout).toContain(`\n  ${name} `);
  });

  it.each([
    ['an unknown name', ['ingets'], "did you mean 'ingest'"],
    ['an unknown option', ['ingest', '--rond', '1'], '--rond'],
    ['text in place of a number', ['ingest', '--rounds', 'many'], '--rounds'],
  ])('the command line of the benchmarks refuses %s with exit code 2', async (_, args, said) => {
    const { code, stdout, stderr } = await bench(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(said);
  });

  it('the command line of the benchmarks explains how to build a missing executable', async () => {
    const { code, stderr } = await bench('start', '--binary', 'no/such/flagmeter');
    expect(code).toBe(1);
    expect(stderr).toContain('run `npm run build` first');
  });
});
