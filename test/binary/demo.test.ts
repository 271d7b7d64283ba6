import { readdirSync, utimesSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { samplePeople } from '../../src/demo/story.ts';
import { freshDirectory, manage, token, type UsageReport, usage } from '../support/binary.ts';
import { type Demo, type StartingDemo, spawnDemo, startDemo, stopDemos } from '../support/demo.ts';
import { freePorts } from '../support/free-ports.ts';
import { runBinary } from '../support/run-binary.ts';

afterAll(() => {
  stopDemos();
});

const dayMs = 86_400_000;
const day = (ago: number) => new Date((Math.floor(Date.now() / dayMs) - ago) * dayMs);

/** Lists the demo directories in a temp directory. */
function left(temp: string): string[] {
  return readdirSync(temp).filter((name) => name.startsWith('flagmeter-demo-'));
}

describe('demo data', () => {
  let demo: Demo;
  let access: string;
  let application: string;

  beforeAll(async () => {
    demo = await startDemo();
    access = await token(demo.http, demo);
    const { items } = (await read('/applications')) as { items: { id: string; name: string }[] };
    application = items.find(({ name }) => name === 'Shop')!.id;
    expect(items).toHaveLength(2);
    console.log(`the demo was ready in ${demo.seconds.toFixed(1)} s`);
  });

  const read = (path: string) => manage(demo.http, access, 'GET', `/api/v2${path}`, 200);

  interface LedgerEntry {
    readonly transport: string;
    readonly sender: { readonly userAgent: string };
    readonly outcome: string;
    readonly code: string | null;
    readonly lastAt: string;
  }

  async function ledger(from: Date, to: Date): Promise<readonly LedgerEntry[]> {
    const range = `from=${from.toISOString()}&to=${to.toISOString()}`;
    const report = await read(`/applications/${application}/ingest?${range}`);
    return (report as { entries: readonly LedgerEntry[] }).entries;
  }

  /** Reads the counts of one feature by day, except for today. */
  async function days(feature: string, ago: number): Promise<UsageReport['features'][number] | undefined> {
    const range = { from: day(ago), to: day(0), step: 'day' } as const;
    const report = await usage(demo.http, access, application, { environment: 'Production', feature, ...range });
    return report.features[0];
  }

  test('the demo data covers 90 days, with more traffic in the evening', async () => {
    const [oldest] = (await days('image-cdn', 90))!.variants.map(({ series }) => series[0]![0]);
    expect(oldest).toBe(day(90).getTime() / 1000);
    const range = { from: day(2), to: day(1), step: 'hour' } as const;
    const { features } = await usage(demo.http, access, application, { environment: 'Production', ...range });
    const hours = features.find(({ feature }) => feature === 'image-cdn')!.variants[0]!.series;
    const at = (hour: number) => hours.find(([t]) => (t / 3600) % 24 === hour)![1];
    expect(at(18)).toBeGreaterThan(2 * at(5));
  });

  test('the demo data contains a roll-out whose share grows over two weeks', async () => {
    const { variants } = (await days('checkout-redesign', 34))!;
    const on = variants.find(({ variant }) => variant === 'on')!.series;
    const off = new Map(variants.find(({ variant }) => variant === 'off')!.series.map(([t, checks]) => [t, checks]));
    const shares = on.map(([t, checks]) => checks / (checks + (off.get(t) ?? 0)));
    expect(shares[1]).toBeLessThan(0.2);
    expect(shares[7]).toBeGreaterThan(0.3);
    expect(shares[7]).toBeLessThan(0.7);
    expect(shares.at(-1)).toBe(1);
  });

  test('the demo data contains an A/B test with an effect, and an A/B test without an effect', async () => {
    const range = `from=${day(28).toISOString()}&to=${day(0).toISOString()}`;
    const readOutcome = async (feature: string) => {
      const query = `environment=Production&event=used&${range}`;
      const path = `/applications/${application}/features/${feature}/comparison?${query}`;
      return ((await read(path)) as { outcome: string }).outcome;
    };
    expect(await readOutcome('basket-layout')).toBe('difference');
    expect(await readOutcome('free-shipping-banner')).toBe('no_clear_difference');
  });

  test.each([
    ['legacy-invoice-pdf', 'safe_to_remove'],
    ['new-search', 'one_variant'],
    ['legacy-search', 'archived_but_asked'],
    ['holiday-theme', 'new'],
    ['maintenance-mode', 'permanent'],
    ['chekout-redesign', 'in_use'],
  ])('the demo data gives the flag %s the verdict %s', async (feature, kind) => {
    expect(await read(`/applications/${application}/features/${feature}/verdict`)).toMatchObject({ kind });
  });

  test('a pipeline can find flags in the demo data by their verdict', async () => {
    const run = (...filter: string[]) =>
      runBinary(['features', 'list', '--app', application, ...filter, '--fail-if-any'], {
        FLAGMETER_URL: demo.url,
        FLAGMETER_TOKEN: access,
      });
    const safe = await run('--verdict', 'safe-to-remove');
    expect(safe).toMatchObject({ code: 8, stderr: expect.stringMatching(/There (is|are) \d+ features?$/m) });
    expect(safe.stdout).toMatch(/^legacy-invoice-pdf +safe-to-remove /m);
    expect(safe.stdout).not.toContain('chekout-redesign');
    const stale = await run('--stale', 'true');
    expect(stale).toMatchObject({ code: 8, stderr: expect.stringContaining('Silence is the only evidence') });
    expect(await run('--verdict', 'safe')).toMatchObject({ code: 2 });
  });

  test('the demo data contains a misspelt flag, a leaked key, and senders with their versions', async () => {
    const below = `/applications/${application}`;
    expect(await read(`${below}/features/chekout-redesign`)).toMatchObject({ declared: false, stale: false });
    const keys = (await read(`${below}/keys`)) as {
      items: { name: string; lastUsedAt: string | null; refused: { count: number }; warnings: unknown[] }[];
    };
    const warned = keys.items.filter(({ warnings }) => warnings.length > 0);
    expect(warned).toMatchObject([{ name: 'Partner page', lastUsedAt: null }]);
    expect(warned[0]!.refused.count).toBeGreaterThan(10_000);
    expect(keys.items.filter(({ lastUsedAt }) => lastUsedAt === null)).toHaveLength(1);
    expect(await read(`${below}/keys?revoked=true`)).toMatchObject({ items: [{ name: 'Old web shop' }] });
    const senders = (await read(`${below}/features/checkout-redesign/senders`)) as {
      items: { name: string; version: string | null }[];
    };
    const named = senders.items.map(({ name, version }) => `${name} ${version}`);
    expect(named).toEqual(expect.arrayContaining(['Chrome 141', 'ShopApp 5', 'shop-api 1.9.3']));
  });

  test('the demo data contains refused messages for every hour of the days on which the leaked key was used', async () => {
    const query = `environment=Production&from=${day(3).toISOString()}&to=${day(1).toISOString()}`;
    const { hourly } = (await read(`/applications/${application}/overview?${query}`)) as {
      hourly: { accepted: number[]; refused: number[] };
    };
    expect(hourly.refused).toHaveLength(48);
    for (const [hour, refused] of hourly.refused.entries())
      expect(refused).toBeGreaterThan(0.01 * hourly.accepted[hour]!);
  });

  test('the demo data contains exposures of each sample person, and an audit log in chronological order', async () => {
    const below = `/applications/${application}/identities`;
    for (const person of samplePeople) {
      const path = `${below}/${encodeURIComponent(person)}/exposures?environment=Production`;
      const { exposures } = (await read(path)) as { exposures: unknown[] };
      expect(exposures.length, person).toBeGreaterThan(5);
    }
    const { items } = (await read('/audit?limit=200')) as { items: { at: string; action: string }[] };
    const times = items.map(({ at }) => at);
    expect(times.length).toBeGreaterThan(40);
    expect(times).toEqual([...times].sort().reverse());
    expect(items.map(({ action }) => action)).toContain('key.leaked');
  });

  test('the demo data contains exposures of people, metrics of both kinds, and refusals with reasons', async () => {
    const below = `/applications/${application}`;
    const { exposures } = (await read(`${below}/identities/customer-1/exposures?environment=Production`)) as {
      exposures: unknown[];
    };
    expect(exposures.length).toBeGreaterThan(5);
    const measured = (await read(`${below}/measurements?environment=Production&step=day`)) as {
      metrics: { kind: string }[];
    };
    expect(new Set(measured.metrics.map(({ kind }) => kind))).toEqual(new Set(['counter', 'gauge']));
    const codes = (await ledger(day(3), day(0))).flatMap(({ outcome, code }) => (outcome === 'refused' ? [code] : []));
    expect(new Set(codes)).toEqual(
      new Set(['origin_not_allowed', 'unknown_key', 'unknown_environment', 'invalid_time']),
    );
  });

  test('the demo data grows by packets and reports over HTTP and gRPC', async () => {
    const since = new Date().toISOString();
    await vi.waitFor(
      async () => {
        const fresh = (await ledger(day(1), day(-1))).filter(({ lastAt }) => lastAt > since);
        expect(new Set(fresh.map(({ transport }) => transport))).toEqual(new Set(['http', 'grpc']));
        expect(fresh.map(({ sender }) => sender.userAgent)).toContain('shop-worker/3.0.1');
      },
      { interval: 250 },
    );
    // On a busy disk, the demo logs slow commits.
    expect(demo.stderr().replace(/^.* a commit was slow .*\n/gm, '')).toBe('');
  });

  test('a starting demo removes the data of a killed demo, but not the data of a running demo', async () => {
    const { temp } = demo;
    const [own = ''] = left(temp);
    const killed = spawnDemo(freePorts, temp);
    await vi.waitFor(() => expect(left(temp)).toHaveLength(2));
    killed.child.kill('SIGKILL');
    await killed.exit;
    const names = left(temp);
    const longAgo = new Date(Date.now() - dayMs);
    for (const name of names) utimesSync(join(temp, name), longAgo, longAgo);
    const another = spawnDemo(freePorts, temp);
    await vi.waitFor(() => {
      expect(left(temp)).toHaveLength(2);
      expect(left(temp)).not.toEqual(names);
    });
    expect(left(temp)).toContain(own);
    expect((await fetch(`${demo.url}/readyz`)).status).toBe(200);
    another.child.kill('SIGTERM');
    expect(await another.exit).toEqual({ code: 0, signal: null });
    expect(left(temp)).toEqual([own]);
  });

  test('Ctrl-C removes the demo data and ends the process', async () => {
    expect(left(demo.temp)).toHaveLength(1);
    expect(await demo.stop('SIGINT')).toEqual({ code: 0, signal: null });
    expect(left(demo.temp)).toEqual([]);
    expect(() => process.kill(demo.pid, 0)).toThrow('ESRCH');
  });
});

/** A demo in a terminal needs ten seconds of CPU time, so it serves two tests. */
describe('a demo with text output', () => {
  const holders = [8080, 8081].map(() => createServer().on('error', () => {}));
  let starting: StartingDemo;
  let progress = '';
  let out = '';

  beforeAll(async () => {
    for (const [at, holder] of holders.entries()) {
      holder.listen(8080 + at, '127.0.0.1');
      await new Promise((done) => holder.once('listening', done).once('error', done));
    }
    starting = spawnDemo([], undefined, []);
    await new Promise<void>((ready) => {
      starting.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
        if (out === '') progress = text;
        out += text;
        if (out.includes('Ctrl-C stops the demo')) ready();
      });
    });
  });
  afterAll(() => {
    for (const holder of holders) holder.close();
  });

  test('the demo prints its progress first, and then its credentials and the names of sample people', () => {
    expect(progress).toMatch(/^Filling a temporary store with sample data …\n$/);
    expect(out).toMatch(/\n30 of 90 days\n60 of 90 days\n90 of 90 days\n/);
    expect(out).toContain(`People: try ${samplePeople[0]}`);
  });

  test('the demo binds free ports when the default ports are taken', async () => {
    // A holder that does not listen has no address, because another process uses its port.
    const held = holders.filter(({ listening }) => listening).map((holder) => holder.address() as AddressInfo);
    // Browsers allow passkeys on localhost, and not at an IP address.
    const url = /http:\/\/localhost:(\d+)/.exec(out);
    expect((await fetch(`${url![0]}/readyz`)).status).toBe(200);
    const ports = [url![1], /gRPC +127\.0\.0\.1:(\d+)/.exec(out)![1]].map(Number);
    for (const { port } of held) expect(ports).not.toContain(port);
    starting.child.kill('SIGTERM');
    expect(await starting.exit).toEqual({ code: 0, signal: null });
  });
});

describe('a demo that does not become ready', () => {
  test('the demo removes its data when it is stopped while filling the store', async () => {
    const { child, temp, exit } = spawnDemo(freePorts);
    await vi.waitFor(() => expect(left(temp)).toHaveLength(1), { interval: 20 });
    child.kill('SIGTERM');
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(left(temp)).toEqual([]);
  });

  test('the demo removes its data when an address cannot be used', async () => {
    const temp = freshDirectory();
    const { code, stderr } = await runBinary(['demo', '--listen', '203.0.113.1:80'], { TMPDIR: temp });
    expect(code).toBe(1);
    expect(stderr).toContain('203.0.113.1:80');
    expect(left(temp)).toEqual([]);
  });

  test.each([
    [['--seed', 'x'], /Cannot use --seed x/],
    [['--listen', 'nowhere'], /Cannot use --listen nowhere/],
    [['--data', 'here'], /Unknown option --data/],
  ])('the demo refuses the arguments %j', async (args, message) => {
    const { code, stderr } = await runBinary(['demo', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
