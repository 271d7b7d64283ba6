import { existsSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshDirectory, manage, prepare, startBinary, stop, token } from '../support/binary.ts';
import { runBinary } from '../support/run-binary.ts';

async function start(args: readonly string[], env = {}) {
  const data = join(freshDirectory(), 'data');
  const credentials = await prepare(data);
  const service = await startBinary({ data, args, env });
  const metric = async (name: string) => {
    const metrics = await (await fetch(`http://${service.http}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  };
  const status = async () => {
    const access = await token(service.http, credentials);
    return (await manage(service.http, access, 'GET', '/api/v2/status', 200)) as { backup: object };
  };
  return { service, data, metric, status };
}

test('a server makes scheduled backups, and reports their state', async () => {
  const folder = freshDirectory();
  const { service, metric, status } = await start(['--backup-every', '24h', '--backup-to', folder]);
  await expect.poll(() => metric('flagmeter_backups_total\\{result="made"\\}')).toBe(1);
  const [name, ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  expect(name).toMatch(/^flagmeter-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.backup$/);
  expect(await metric('flagmeter_backup_last_bytes')).toBeGreaterThan(10_000);
  expect(await metric('flagmeter_backup_failing')).toBe(0);
  expect(await metric('flagmeter_backup_interval_seconds')).toBe(86_400);
  expect(Math.abs((await metric('flagmeter_backup_last_success_timestamp_seconds')) - Date.now() / 1000)).toBeLessThan(
    120,
  );
  expect((await status()).backup).toMatchObject({
    trouble: '',
    lastGoodAt: expect.any(String),
    nextAt: expect.any(String),
  });
  await stop(service);
  expect(await runBinary(['verify', join(folder, name!)])).toMatchObject({ code: 0 });
  expect(service.stderr()).toContain('"msg":"backup completed"');
});

test('a server without any successful backup logs an error, continues, and does not create a missing volume', async () => {
  const folder = join(freshDirectory(), 'mount/backups');
  const { service, metric, status } = await start(['--backup-every', '24h', '--backup-to', folder]);
  await expect.poll(() => metric('flagmeter_backups_total\\{result="failed"\\}')).toBe(1);
  expect(await metric('flagmeter_backup_failing')).toBe(1);
  expect(await metric('flagmeter_backup_last_success_timestamp_seconds')).toBe(0);
  expect(service.stderr()).toMatch(
    /"level":"error","msg":"backup failed","reason":"Cannot write backups to .*: no such directory/,
  );
  expect((await status()).backup).toMatchObject({
    trouble: expect.stringContaining('no such directory'),
    lastGoodAt: null,
  });
  expect((await fetch(`http://${service.http}/readyz`)).status).toBe(200);
  expect(await stop(service)).toEqual({ code: 0, signal: null });
  expect(existsSync(dirname(folder))).toBe(false);
});

test('an S3 bucket that does not respond delays neither the service nor its shutdown', async () => {
  let calls = 0;
  const hanging = createServer((socket) => {
    calls += 1;
    socket.on('error', () => {}); // The server resets the connection when it stops.
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void hanging.close());
  await new Promise((listening) => hanging.once('listening', listening));
  const endpoint = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
  const args = ['--backup-every', '24h', '--backup-to', 's3://backups/x', '--backup-s3-endpoint', endpoint];
  const { service } = await start(args, { AWS_ACCESS_KEY_ID: 'known', AWS_SECRET_ACCESS_KEY: 'not-to-be-seen' });
  await expect.poll(() => calls).toBeGreaterThan(0);
  expect((await fetch(`http://${service.http}/readyz`)).status).toBe(200);
  expect(await stop(service)).toEqual({ code: 0, signal: null });
  expect(service.stderr()).not.toContain('not-to-be-seen');
});

test.each([
  [['--backup-every', '24h'], 'needs --backup-to too'],
  [['--backup-to', 'x'], 'needs --backup-every too'],
  [['--backup-every', '90s', '--backup-to', 'x'], 'be minutes, hours or days, such as 30m, 24h or 7d'],
  [['--backup-every', '1d', '--backup-to', 's3://'], 'be a directory, or s3://BUCKET/PREFIX'],
  [
    ['--backup-every', '1d', '--backup-to', 'x', '--postgres', 'postgres://flagmeter@127.0.0.1:1/flagmeter'],
    'cannot be combined with --postgres: back up the PostgreSQL',
  ],
])('serve refuses the options %s, and prints the reason', async (args, words) => {
  const data = join(freshDirectory(), 'data');
  const { code, stderr } = await runBinary(['serve', '--data', data, ...args]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
});
