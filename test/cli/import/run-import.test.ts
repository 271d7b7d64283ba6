import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary.ts';
import { file, header, importing } from './importing.ts';

const { admin, api, run, exported } = importing();

describe('flagmeter import', () => {
  it('import counts each row at its own time, in minute, hour or day buckets according to the retention', async () => {
    const { summary, failure } = await run(
      file(
        `\ufeff${header}`,
        '2026-01-02T02:59:00Z,Production,checkout,on,1,1,1',
        '2025-12-20T10:59:00Z,Production,checkout,on,2,0,0',
        '2025-06-01T10:59:00Z,Production,checkout,off,4,0,0',
      ),
    );
    expect(failure).toBeUndefined();
    expect(summary).toMatchObject({ counts: 3, features: 1, variants: 2, checks: 7, imported: 3, badLines: 0 });
    expect(await exported('minute')).toBe(
      [
        header,
        '2025-06-01T00:00:00.000Z,Production,checkout,off,4,0,0',
        '2025-12-20T10:00:00.000Z,Production,checkout,on,2,0,0',
        '2026-01-02T02:59:00.000Z,Production,checkout,on,1,1,1',
        '',
      ].join('\r\n'),
    );
    const path = `/applications/${admin.application}/features/checkout`;
    expect(await api('GET', path, 200)).toMatchObject({
      firstSeenAt: '2025-06-01T00:00:00.000Z',
      lastSeenAt: '2026-01-02T02:59:00.000Z',
    });
    expect(await api('GET', '/audit?limit=1', 200)).toMatchObject({
      items: [{ action: 'environment.imported', target: { name: 'Production' } }],
    });
  });

  it('import counts the same content only once, whatever the name of the file', async () => {
    const lines = [header, '2026-01-01T00:00:00Z,Production,checkout,on,1,1,1'];
    await run(file(...lines));
    const before = await exported('hour');
    const { summary } = await run(file(...lines));
    expect(summary).toMatchObject({ imported: 0, repeated: 1 });
    expect(await exported('hour')).toBe(before);
    expect((await run(file(...lines), '--format csv --from-env Production')).summary).toMatchObject({ repeated: 1 });
    expect((await run(file(...lines, lines[1]!))).summary).toMatchObject({ imported: 2 });
  });

  it('import --dry-run checks a file without counting it', async () => {
    const path = file(
      header,
      '2026-01-01T00:00:00Z,Production,checkout,on,1,1,1',
      '2001-01-01,Production,checkout,on,1,1,1',
    );
    const { summary } = await run(path, '--format csv --dry-run');
    expect(summary).toMatchObject({ dryRun: true, counts: 2, imported: 1, outside: 1 });
    expect(await exported('hour')).toBe(`${header}\r\n`);
    expect((await run(path)).summary).toMatchObject({ imported: 1, outside: 1 });
    expect((await run(path, '--format csv --dry-run')).summary).toMatchObject({ imported: 0, repeated: 1 });
  });

  it('import skips the bad lines of a file, and counts the other lines', async () => {
    const good = '2026-01-01T00:00:00Z,Production,checkout,on,1,1,1';
    const path = file(header, good, 'nonsense', good, good.replace('checkout', ''));
    const rejected = join(temporaryDirectory(), 'bad.csv');
    const { summary, context, failure } = await run(path, `--format csv --bad-lines ${rejected}`);
    expect(failure).toMatchObject({ kind: 'found', message: 'Bad lines that were not imported: 2' });
    expect(context.output.err).toContain(`${path}:3: wrong number of cells\n${path}:5: feature is not a valid name\n`);
    expect(summary).toMatchObject({ imported: 2, badLines: 2, firstBadLines: [{ line: 3 }, { line: 5 }] });
    expect(readFileSync(rejected, 'utf8')).toBe(`${header}\nnonsense\n${good.replace('checkout', '')}\n`);
  });

  it('import skips lines that are not UTF-8', async () => {
    const path = file(header);
    const rows = [
      '2026-01-01T00:00:00Z,Production,caf\xe9,on,1,1,1\n',
      '2026-01-01T00:00:00Z,Production,tea,on,1,1,1\n',
    ];
    writeFileSync(path, Buffer.from(`${header}\n${rows.join('')}`, 'latin1'));
    const { summary } = await run(path);
    expect(summary).toMatchObject({ imported: 1, firstBadLines: [{ line: 2, reason: 'not UTF-8' }] });
  });

  it.each([2, 3.5, 5])('import skips a line of %d MiB', async (length) => {
    const long = 'x'.repeat(length * 1024 * 1024);
    const row = (feature: string) => `2026-01-01T00:00:00Z,Production,${feature},on,1,1,1`;
    const within = await run(file(header, row('tea'), long, row('cake')));
    expect(within.failure).toMatchObject({ kind: 'found' });
    const firstBadLines = [{ line: 3, reason: 'longer than 1 MiB' }];
    expect(within.summary).toMatchObject({ imported: 2, badLines: 1, firstBadLines });
    const last = file(header, row('tea'));
    appendFileSync(last, long);
    expect((await run(last)).summary).toMatchObject({ imported: 1, badLines: 1, firstBadLines });
  });

  it('import reports a file without rows, and imports nothing', async () => {
    const path = file(header);
    const { summary, context, failure } = await run(path);
    expect(failure).toBeUndefined();
    expect(context.output.err).toContain(`Nothing to import: ${path} holds no rows\n`);
    expect(summary).toMatchObject({ counts: 0, imported: 0 });
    expect((await run(file())).context.output.err).toContain('holds no rows');
  });

  it('import requires the choice of an environment if the file has rows of several environments', async () => {
    const path = file(header, '2026-01-01,prod,checkout,on,1,0,0', '2026-01-01,test,checkout,on,2,0,0');
    expect((await run(path)).failure).toMatchObject({
      message: 'Cannot import rows of several environments: use --from-env with one of prod, test',
    });
    expect((await run(file(header, '2026-01-01,prod,a,on,1,0,0', '2026-01-01,,a,on,2,0,0'))).failure).toMatchObject({
      message: 'Cannot import rows of several environments: use --from-env with one of prod, (none)',
    });
    expect((await run(path, '--format csv --from-env tset')).failure).toMatchObject({
      message: 'Cannot use --from-env tset: the file has rows of prod, test',
    });
    const { summary } = await run(path, '--format csv --from-env test');
    expect(summary).toMatchObject({ counts: 1, checks: 2, ofOtherEnvironments: 1, imported: 1 });
  });

  it('import refuses a file that does not exist', async () => {
    expect((await run('/nowhere.csv')).failure).toMatchObject({ message: /Cannot read \/nowhere\.csv: ENOENT/ });
    expect(existsSync('/nowhere.csv')).toBe(false);
  });

  it('import --before imports only earlier rows, and a repetition of the import counts no row again', async () => {
    const path = file(
      header,
      '2026-01-01T10:00:00Z,Production,checkout,on,1,0,0',
      '2026-01-01T11:00:00Z,Production,checkout,on,2,0,0',
      '2026-01-01T12:00:00Z,Production,checkout,on,4,0,0',
    );
    const before = '--format csv --before 2026-01-01T13:00:00+02:00';
    expect((await run(path, before)).summary).toMatchObject({ counts: 1, checks: 1, later: 2, imported: 1 });
    expect((await run(path, before.replace('13:00:00+02:00', '11:00:00Z'))).summary).toMatchObject({
      imported: 0,
      repeated: 1,
    });
    expect((await run(path, '--format csv --before 1d')).failure).toMatchObject({
      message: 'Cannot use --before 1d: must be a time such as 2026-01-31T12:00:00Z or a day',
    });
  });

  it('import stops at a signal, and the same command later imports the rest', async () => {
    const rows = Array.from({ length: 40_000 }, (_, n) => `2026-01-01,Production,flag-${n % 7},on,1,0,0`);
    const path = file(header, ...rows);
    let parts = 0;
    const interrupted = await run(path, '--format csv', admin.application, (async (url, init) => {
      if (String(url).endsWith('/imports')) parts += 1;
      const isThird = parts === 3;
      const response = await fetch(url, init);
      if (isThird) process.emit('SIGINT');
      return response;
    }) as typeof fetch);
    expect(interrupted.failure).toMatchObject({
      exitCode: 130,
      message: /^Interrupted: about \d+ % is imported\. Run the same command again to import the rest$/,
    });
    expect(parts).toBeLessThan(9);
    const { summary } = await run(path);
    expect(Number(summary['imported']) + Number(summary['repeated'])).toBe(40_000);
    expect(summary['repeated']).toBeGreaterThan(4000);
    const lines = (await exported('day')).trim().split('\r\n').slice(1);
    expect(lines.reduce((all, line) => all + Number(line.split(',')[4]), 0)).toBe(40_000);
  });

  it('import counts all rows of a file that is sent in several parts', async () => {
    const rows = Array.from({ length: 10_000 }, (_, n) => `2026-01-01,Production,flag-${n % 700},on,${n % 7},0,0`);
    const { summary } = await run(file(header, ...rows));
    expect(summary).toMatchObject({ counts: 10_000, imported: 10_000 });
    const lines = (await exported('day')).trim().split('\r\n').slice(1);
    const sum = lines.reduce((all, line) => all + Number(line.split(',')[4]), 0);
    expect([lines.length, sum]).toEqual([700, summary['checks']]);
  });
});

it('import reads the metrics table and the variants table of Unleash in one run', async () => {
  const key = 'checkout,web,production,2025-12-31 12:00:00+00';
  const metrics = file(
    'feature_name,app_name,environment,timestamp,yes,no',
    `${key},5,2`,
    `${key.replace('web', 'app')},1,0`,
  );
  const variants = file(
    'feature_name,app_name,environment,timestamp,variant,count',
    `${key},blue,3`,
    `${key},disabled,2`,
  );
  const { summary, failure } = await run(metrics, `--format unleash --variants ${variants}`);
  expect(failure).toBeUndefined();
  expect(summary).toMatchObject({ checks: 8, imported: 4 });
  const rows = (await exported('day')).trim().split('\r\n').slice(1);
  expect(rows.map((row) => row.split(',').slice(3, 5).join())).toEqual(['blue,3', 'disabled,2', 'enabled,3']);
});
