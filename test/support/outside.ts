import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { TestCollector } from '../serve/otlp/collector.ts';
import { freshDirectory } from './binary.ts';

/** External services that a server uses: a collector that accepts data, and a bucket that refuses data. */
export interface Outside {
  /** Arguments of `serve` for these services. */
  readonly args: readonly string[];
  /** The payloads that the collector received at a path. Their headers contain the token of the collector. */
  sentTo(path: '/v1/traces' | '/v1/metrics'): string;
  close(): void;
}

/** @param note called with each secret that the service receives */
export async function openOutside(note: (name: string, secret: string) => void): Promise<Outside> {
  const collector = await TestCollector.open();
  const bucket = await openBucket();
  return {
    args: [...collectorArguments(collector.url, note), ...bucketArguments(bucket.url, note)],
    sentTo: (path) => JSON.stringify(collector.at(path).map(({ message }) => message)),
    close() {
      collector.close();
      bucket.close();
    },
  };
}

/** Starts a bucket whose refusals repeat the rejected value, as S3 does. */
async function openBucket() {
  const server = createServer(({ url, headers }, response) => {
    const detail = `<Message>${headers.authorization}</Message><Resource>${url}</Resource>`;
    response.writeHead(403).end(`<Error><Code>InvalidAccessKeyId</Code>${detail}</Error>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

type Note = (name: string, secret: string) => void;

function collectorArguments(url: string, note: Note): readonly string[] {
  const secret = randomBytes(12).toString('hex');
  note('a header for the collector', secret);
  const file = secretFile(`authorization: Bearer ${secret}\n`);
  const often = ['--otlp-trace-one-in', '1', '--otlp-every', '1'];
  return ['--otlp-endpoint', url, '--otlp-headers-file', file, ...often];
}

/** Returns arguments that make each backup fail. The log then contains the reason. */
function bucketArguments(url: string, note: Note): readonly string[] {
  const id = randomBytes(12).toString('hex');
  const secret = randomBytes(12).toString('hex');
  note('the id of the bucket key', id);
  note('the bucket key', secret);
  const file = secretFile(`[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`);
  const bucket = ['--backup-to', 's3://bucket/backups', '--backup-s3-endpoint', url];
  return ['--backup-every', '24h', ...bucket, '--backup-s3-credentials', file];
}

function secretFile(text: string): string {
  const file = join(freshDirectory(), 'file');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}
