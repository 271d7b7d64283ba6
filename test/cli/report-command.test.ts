import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { UsageError } from '../../src/cli/options.ts';
import { whoami } from '../../src/cli/sign-in/commands.ts';
import { createKey } from '../support/binary.ts';
import { runCommand } from '../support/run-command.ts';
import { administrator } from './administrator.ts';
import { testContext } from './fixture.ts';

const admin = administrator();
const { running, api } = admin;
let key: string;

beforeEach(async () => {
  ({ key } = await createKey(running.service.http, admin.access, admin.application, 'Frontend'));
});

/** Sends a packet. @returns the HTTP status */
async function send(packet: object, headers: Record<string, string> = { origin: 'https://shop.example' }) {
  const response = await fetch(`${running.url}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'test', ...headers },
    body: JSON.stringify({ k: key, e: 'Production', ...packet }),
  });
  return response.status;
}

async function run(command: string, others: Partial<Context> = {}): Promise<{ out: string; err: string }> {
  const words = command.replace('Here', admin.application).split(' ');
  const env = { FLAGMETER_URL: running.url, FLAGMETER_TOKEN: admin.access };
  const context = testContext({ clock: running.clock, env });
  expect(await runCommand(words, { ...context, ...others })).toBe(0);
  return context.output;
}

const here = '--app Here --env Production';

describe('usage --format', () => {
  it.each([
    ['csv', /^time,environment,feature,variant,checks,used,viewed\r\n\S+Z,Production,checkout,on,3,2,1\r\n$/],
    ['ndjson', /^\{"time":"\S+Z","environment":"Production","feature":"checkout","variant":"on","checks":3,/],
  ])('usage --format %s prints only rows', async (format, rows) => {
    expect(await send({ f: { checkout: { on: [3, 2, 1] } } })).toBe(202);
    const { out, err } = await run(`usage ${here} --format ${format}`);
    expect(out).toMatch(rows);
    expect(err).toBe('');
  });

  it('usage --format prints the message of a refusal by the server', async () => {
    await expect(run(`usage ${here} --format csv --to 1d --from 1h`)).rejects.toThrow(/from must be before to/);
    await expect(run(`usage ${here} --format csv --json`)).rejects.toThrow(UsageError);
  });

  it('usage --format fails if the connection breaks', async () => {
    const env = { FLAGMETER_URL: running.url, FLAGMETER_TOKEN: admin.access };
    const context = testContext({ clock: running.clock, env });
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
    const cut = {
      ...context,
      fetch: async (url: string, init: RequestInit) =>
        url.includes('format=') ? new Response(broken) : fetch(url, init),
    };
    const argv = ['--app', admin.application, '--env', 'Production', '--format', 'csv'];
    await expect(runCommand(['usage', ...argv], cut)).rejects.toThrow(/rows are missing/);
  });
});

describe('usage --range', () => {
  const asked: URL[] = [];
  async function query(command: string): Promise<Record<string, string>> {
    const env = { FLAGMETER_URL: running.url, FLAGMETER_TOKEN: admin.access };
    const clock = { ...running.clock, now: () => Date.parse('2026-11-01T23:30:00Z') };
    const record = (url: string, init: RequestInit) => {
      asked.push(new URL(url));
      return fetch(url, init);
    };
    const words = command.replace('Here', admin.application).split(' ');
    const recording = { ...testContext({ clock, env }), fetch: record };
    expect(await runCommand(words, recording)).toBe(0);
    const {
      environment: _,
      step: __,
      ...rest
    } = Object.fromEntries(asked.findLast(({ pathname }) => pathname.endsWith('/usage'))!.searchParams);
    return rest;
  }

  it.each([
    ['last-week', 'Europe/Berlin', { from: '2026-10-25T23:00:00.000Z', to: '2026-11-01T23:00:00.000Z' }],
    ['last-week', undefined, { from: '2026-10-19T00:00:00.000Z', to: '2026-10-26T00:00:00.000Z' }],
    ['yesterday', 'Pacific/Auckland', { from: '2026-10-31T11:00:00.000Z', to: '2026-11-01T11:00:00.000Z' }],
  ])('usage --range %s with the time zone %s covers the right days', async (range, zone, expected) => {
    const given = zone === undefined ? '' : ` --time-zone ${zone}`;
    const timeZone = zone === undefined ? {} : { timeZone: zone };
    expect(await query(`usage ${here} --range ${range}${given}`)).toEqual({ ...expected, ...timeZone });
  });

  it('usage --range rejects --from, --to and an unknown time zone', async () => {
    await expect(run(`usage ${here} --range today --from 1d`)).rejects.toThrow(/sets both/);
    await expect(run(`usage ${here} --time-zone Europe/Atlantis`)).rejects.toThrow(/"Europe\/Atlantis"/);
    await expect(run(`ingest --app Here --range tomorrow`)).rejects.toThrow(UsageError);
  });
});

describe('usage', () => {
  it('usage prints a line for each feature and each of its variants', async () => {
    expect(await send({ f: { checkout: { on: [3, 2, 1], off: [10] } } })).toBe(202);
    const { out } = await run(`usage ${here}`);
    const [about, empty, ...lines] = out.split('\n');
    expect(about).toMatch(/^Shop, Production, \S+ \S+ UTC to \S+ \S+ UTC$/);
    expect(empty).toBe('');
    expect(lines).toEqual([
      'FEATURE   VARIANT  CHECKS  USED  VIEWED  PEOPLE',
      expect.stringMatching(/^checkout {2}\(all\) {8}13 {5}2 {7}1 {7}-$/),
      ...[expect.stringMatching(/^checkout {2}o/), expect.stringMatching(/^checkout {2}o/), ''],
    ]);
    expect(out).toMatch(/^checkout +off +10 +0 +0 +-$/m);
  });

  it('usage prints the number of people of the environment and of each feature, with the counted days', async () => {
    await api('PATCH', `/applications/${admin.application}`, 200, { acceptClientIdentities: true });
    expect(await send({ u: 'user-1', f: { checkout: { on: [3, 2, 1] } } })).toBe(202);
    const { out } = await run(`usage ${here}`);
    expect(out).toMatch(/\nPeople in the environment: 1 \(1 – 2 Jan\)\n/);
    expect(out).toMatch(/^checkout +\(all\) +3 +2 +1 +1$/m);
  });

  it('usage prints dashes for uses and views that no sender reports', async () => {
    const path = `/applications/${admin.application}/keys/adopt`;
    const token = `default:production.${'a1b2c3d4'.repeat(5)}`;
    await api('POST', path, 201, { token, type: 'Backend', environment: 'Production' });
    const start = new Date(running.clock.now() - 60_000).toISOString();
    const toggles = { checkout: { yes: 3, no: 1, variants: {} } };
    const { status } = await fetch(`${running.url}/api/client/metrics`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: JSON.stringify({ appName: 'shop', bucket: { start, stop: start, toggles } }),
    });
    expect(status).toBe(202);
    running.clock.advance(2000);
    const { out } = await untilShown(() => run(`usage ${here}`), /checkout/);
    expect(out).toMatch(/^checkout +\(all\) +4 +- +- +-$/m);
  });

  it('usage --step prints a line for each bucket', async () => {
    await send({ f: { checkout: { on: [3, 2, 1] }, cart: { on: [1] } } });
    const { out } = await run(`usage ${here} --step HOUR --from 2h --feature checkout`);
    expect(out).toMatch(/\n\nTIME +FEATURE +VARIANT +CHECKS +USED +VIEWED\n\S+ \S+ UTC +checkout +on +3 +2 +1\n$/);
  });

  it('usage --json prints the JSON of the API', async () => {
    await send({ f: { checkout: { on: [3, 2, 1] } } });
    const range = 'from=2026-01-01T00:00:00.000Z&to=2026-01-02T00:00:00.000Z';
    const { out } = await run(`usage ${here} --from 2026-01-01 --to 2026-01-02T00:00:00Z --step hour --json`);
    const path = `/applications/${admin.application}/usage?environment=Production&step=hour&${range}`;
    expect(JSON.parse(out)).toEqual(await api('GET', path, 200));
  });

  it('usage --step prints absolute times on a terminal', async () => {
    await send({ f: { checkout: { on: [3, 2, 1] } } });
    const { out } = await run(`usage ${here} --step hour`, { width: 80 });
    expect(out).toMatch(/^\d{4}-\d\d-\d\d \d\d:00:00 UTC +checkout +on +3 +2 +1$/m);
  });

  it('usage uses the only environment of an application, and reports that there was no usage', async () => {
    for (const name of ['Staging', 'Development'])
      await api('DELETE', `/applications/${admin.application}/environments/${name}`, 204);
    const { out, err } = await run('usage --app Here');
    expect(out).toMatch(/^Shop, Production, .*\n$/);
    expect(err).toBe('No usage in this period\n');
  });

  it.each([
    ['usage --app Here', 2, 'Cannot choose an environment without --env: Shop has Production, Staging, Development'],
    [
      'usage --app Here --env PRODUCTION',
      5,
      'There is no environment PRODUCTION; case matters, and there is Production',
    ],
    [`usage ${here} --from then`, 2, 'Cannot use --from then: must be a time such as '],
    [`usage ${here} --step week`, 2, 'Cannot use --step week: must be minute, hour or day'],
    [`usage ${here} --feature checkuot`, 5, 'There is no feature checkuot'],
    [`measurements ${here} --metric revenu`, 5, 'There is no metric revenu'],
    [`usage ${here} --from 1h --to 2h`, 2, 'from must be before to (invalid_query)'],
  ])('the command "%s" fails with exit code %i', async (command, exitCode, message) => {
    const error = await run(command).catch((failure: unknown) => failure as Error);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
    if (error instanceof UsageError) expect(exitCode).toBe(2);
    else expect(error).toMatchObject({ exitCode });
  });
});

it('measurements prints the values of metrics', async () => {
  await send({ m: { sales: 12.5 } });
  await send({ m: { sales: 7.5 } });
  const sums = await run(`measurements ${here}`);
  expect(sums.out).toMatch(
    /\nMETRIC +KIND +VALUE +COUNT +MIN +MAX +LAST\nsales +counter +20 +2 +7\.5 +12\.5 +\S+ \S+ UTC\n$/,
  );
  const steps = await run(`measurements ${here} --step minute --metric sales`);
  expect(steps.out).toMatch(/\nTIME +METRIC +VALUE\n\S+ \S+ UTC +sales +20\n$/);
});

it('ingest prints refusals with reasons and senders', async () => {
  expect(await send({ f: {} })).toBe(202);
  expect(await send({ e: 'production' })).toBe(404);
  expect(await send({}, {})).toBe(403);
  running.clock.advance(2000); // Refusals appear in the report after a second.
  const { out } = await untilShown(() => run('ingest --app Here'), /refused 2/);
  expect(out).toMatch(/^Shop, all environments, .*\naccepted 1, refused 2, noted 0\n\nREFUSED +STATUS +COUNT /);
  expect(out).toMatch(
    /^unknown_environment +404 +1 +production +telemetry .*, from https:\/\/shop\.example +\S+ \S+ UTC$/m,
  );
  expect(out).toMatch(/^origin_missing +403 +1 +Production +telemetry /m);
  expect(out).toMatch(/\n\nSENDER +INSTANCE +TRANSPORT +ACCEPTED +REFUSED +NOTED +LAST\ntest +- +http +1 +2 +0 /);
  expect((await run('ingest --app Here --env Staging')).err).toBe('No packets or reports in this period\n');
});

/** Repeats a command until its output matches. */
async function untilShown(work: () => Promise<{ out: string; err: string }>, pattern: RegExp) {
  return expect
    .poll(work)
    .toMatchObject({ out: expect.stringMatching(pattern) })
    .then(work);
}

describe('whoami', () => {
  it('whoami shows the server, and the user on whose behalf commands act', async () => {
    const env = { FLAGMETER_URL: running.url, FLAGMETER_TOKEN: admin.access };
    const context = testContext({ clock: running.clock, env });
    expect(await whoami.run([], context)).toBe(0);
    expect(context.output.out).toMatch(/^ {2}Server +http:.*\n {2}By +the token in FLAGMETER_TOKEN\n/);
    expect(context.output.out).toMatch(/^ {2}Teams +Default \(primary\)$/m);
  });

  it('whoami --json prints the JSON of the API', async () => {
    const env = { FLAGMETER_URL: running.url, FLAGMETER_TOKEN: admin.access };
    const context = testContext({ clock: running.clock, env });
    await whoami.run(['--json'], context);
    expect(JSON.parse(context.output.out)).toEqual(await api('GET', '/users/me', 200));
  });

  it('whoami fails with exit code 3 if the user has not signed in', async () => {
    const context = testContext({ clock: running.clock, env: { FLAGMETER_URL: running.url } });
    await expect(whoami.run([], context)).rejects.toMatchObject({ exitCode: 3 });
  });
});
