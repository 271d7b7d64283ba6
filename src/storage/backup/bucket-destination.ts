import { closeSync, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Bucket } from './bucket.ts';
import { readCredentials } from './bucket-credentials.ts';
import { type Destination, removeGently } from './destination.ts';
import type { S3Settings } from './make-scheduled.ts';
import { writeFileWhole } from './write-file.ts';

/** Size of a part of an upload. S3 allows at most 10 000 parts of at least 5 MiB. */
const minPartBytes = 16 * 1024 * 1024;
const maxParts = 9000;

/** Path of a backup in the data directory until its upload is complete. */
const waiting = 'backup.upload';

/**
 * Keeps backups in a bucket. A backup is first written to the data directory, so that the store is read at the speed of the disk
 * rather than the network.
 * @param to `s3://BUCKET/PREFIX`
 */
export function bucketDestination(
  to: string,
  settings: S3Settings,
  data: string,
  signal: AbortSignal,
): Destination {
  const [, name = '', folder = ''] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/?$/.exec(to) ?? [];
  const prefix = folder === '' ? '' : `${folder}/`;
  const credentials = readCredentials(settings.credentials, process.env);
  const bucket = new Bucket({ name, settings, credentials, signal });
  return {
    names: async () => (await bucket.keys(prefix)).map((key) => key.slice(prefix.length)),
    async put(backup, write, pace) {
      for (const left of readdirSync(data).filter((each) => each.startsWith(waiting)))
        rmSync(join(data, left));
      const file = join(data, waiting);
      const written = await writeFileWhole(file, write);
      try {
        await upload(bucket, prefix + backup, file);
        return written;
      } finally {
        await removeGently(file, pace);
      }
    },
    remove: (backup) => bucket.remove(prefix + backup),
  };
}

/** Uploads a file to a bucket, in parts if it is large. */
export async function upload(
  bucket: Bucket,
  key: string,
  file: string,
  partBytes = minPartBytes,
): Promise<void> {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    if (size <= partBytes) {
      await bucket.put(key, readPart(descriptor, 0, size));
      return;
    }
    await uploadParts(bucket, key, descriptor, size, Math.max(partBytes, Math.ceil(size / maxParts)));
  } finally {
    closeSync(descriptor);
  }
}

async function uploadParts(
  bucket: Bucket,
  key: string,
  descriptor: number,
  size: number,
  partBytes: number,
): Promise<void> {
  const id = await bucket.begin(key);
  try {
    const tags: string[] = [];
    for (let at = 0; at < size; at += partBytes) {
      const part = readPart(descriptor, at, Math.min(partBytes, size - at));
      tags.push(await bucket.putPart(key, id, tags.length + 1, part));
    }
    await bucket.complete(key, id, tags);
  } catch (error) {
    // If the bucket itself failed, its lifecycle rule for incomplete uploads frees the parts.
    await bucket.abort(key, id).catch(() => {});
    throw error;
  }
}

function readPart(descriptor: number, at: number, length: number): Buffer {
  const part = Buffer.allocUnsafe(length);
  if (readSync(descriptor, part, 0, length, at) < length) throw new Error('The backup file is truncated');
  return part;
}
