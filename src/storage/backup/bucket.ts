import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { explainFileError, readTextFile } from '../../runtime/files.ts';
import { isLocked, lockWritten } from '../lmdb/lock.ts';
import { type Destination, removeGently } from './destination.ts';
import type { S3Settings } from './make-scheduled.ts';
import type { Pace } from './pace.ts';
import { type BackupStream, readChunks } from './read-backup.ts';
import { writeFileWhole } from './write-file.ts';

/** Settings of a client for one bucket of an S3-compatible service. */
interface BucketDeps {
  readonly name: string;
  readonly settings: Pick<S3Settings, 'endpoint' | 'region'>;
  readonly credentials: Credentials;
  readonly signal: AbortSignal;
  /** Request timeout and retry delays, ms. After the last retry the request fails. */
  readonly timeoutMs?: number;
  readonly retriesMs?: readonly number[];
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** First and last byte of the object to read. */
  readonly range?: readonly [first: number, last: number];
  /** True if the request may finish, within `finishMs`, after the task is interrupted. */
  readonly finishes?: true;
}

interface BucketResponse {
  readonly content: Buffer;
  readonly text: string;
  readonly etag: string;
}

interface BucketObject {
  readonly key: string;
  readonly bytes: number;
}

const defaults = { timeoutMs: 60_000, retriesMs: [1000, 4000, 15_000, 30_000] };

/** Time after an interruption in which requests marked with `finishes` can complete, ms. */
const finishMs = 3000;

/** A failed request that can succeed when retried. */
class Again extends Error {}

/** A client for one bucket. Signs requests and their bodies with AWS Signature Version 4. */
export class Bucket {
  readonly #deps: Required<BucketDeps>;
  readonly #origin: string;
  /** Aborts the requests marked with `finishes`, `finishMs` after an interruption. */
  readonly #finish = new AbortController();

  constructor(deps: BucketDeps) {
    this.#deps = { ...defaults, ...deps };
    const finish = () => void setTimeout(() => this.#finish.abort(), finishMs).unref();
    deps.signal.addEventListener('abort', finish, { once: true });
    const { endpoint, region } = deps.settings;
    this.#origin = endpoint?.replace(/\/+$/, '') ?? `https://s3.${region}.amazonaws.com`;
  }

  async list(prefix: string): Promise<BucketObject[]> {
    const objects: BucketObject[] = [];
    for (let token = ''; ; ) {
      const query = { 'list-type': '2', prefix, ...(token !== '' && { 'continuation-token': token }) };
      const { text } = await this.#call({ method: 'GET', query });
      for (const [, object = ''] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs))
        objects.push({ key: within(object, 'Key') ?? '', bytes: Number(within(object, 'Size')) });
      token = within(text, 'NextContinuationToken') ?? '';
      if (token === '') return objects;
    }
  }

  /** Reads a part of an object. */
  async get(key: string, at: number, length: number): Promise<Buffer> {
    const { content } = await this.#call({ method: 'GET', key, range: [at, at + length - 1] });
    if (content.length === length) return content;
    throw new Error(`The bucket returned ${content.length} of ${length} bytes: the object was replaced`);
  }

  async put(key: string, body: Buffer): Promise<void> {
    await this.#call({ method: 'PUT', key, body });
  }

  async remove(key: string): Promise<void> {
    await this.#call({ method: 'DELETE', key });
  }

  /** Starts a multipart upload. The object exists once the upload is completed. @returns the id of the upload */
  async begin(key: string): Promise<string> {
    const { text } = await this.#call({ method: 'POST', key, query: { uploads: '' }, finishes: true });
    const id = within(text, 'UploadId');
    if (id === undefined) throw new Error('Cannot use the bucket: its responses do not come from an S3 service');
    return id;
  }

  /** @returns the part's ETag */
  async putPart(key: string, uploadId: string, part: number, body: Buffer): Promise<string> {
    const { etag } = await this.#call({ method: 'PUT', key, query: { partNumber: String(part), uploadId }, body });
    return etag;
  }

  async complete(key: string, uploadId: string, tags: readonly string[]): Promise<void> {
    const parts = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join('');
    const body = Buffer.from(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`);
    const { text } = await this.#call({ method: 'POST', key, query: { uploadId }, body, finishes: true });
    // Checks the body, because a service can report a failure there after status 200.
    if (/<Error>/.test(text))
      throw new Error(`The bucket rejected the upload: ${within(text, 'Code') ?? 'no reason given'}`);
  }

  /** Abandons an upload, which frees its parts. */
  async abort(key: string, uploadId: string): Promise<void> {
    await this.#call({ method: 'DELETE', key, query: { uploadId }, finishes: true });
  }

  async #call(call: Call): Promise<BucketResponse> {
    const { retriesMs, signal } = this.#deps;
    for (const waitMs of [...retriesMs, undefined]) {
      try {
        return await this.#once(call);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Again) || waitMs === undefined) throw error;
        await rest(waitMs, undefined, { signal });
      }
    }
    throw new Error('unreachable');
  }

  async #once(call: Call): Promise<BucketResponse> {
    const { timeoutMs, signal } = this.#deps;
    const { url, headers, method, body } = await this.#sign(call);
    const deadline = AbortSignal.timeout(timeoutMs);
    const over = AbortSignal.any([call.finishes ? this.#finish.signal : signal, deadline]);
    let response: Response;
    let content: Buffer;
    try {
      const options = { method, headers, redirect: 'manual', signal: over } as const;
      response = await fetch(url, { ...options, ...(body && { body: body as Uint8Array<ArrayBuffer> }) });
      content = Buffer.from(await response.arrayBuffer());
    } catch (error) {
      if (deadline.aborted) throw new Again(`The bucket did not respond within ${timeoutMs / 1000} s`);
      throw new Again(`Cannot reach the bucket (${describeError(error)})`);
    }
    const { status } = response;
    const text = call.range === undefined || status >= 300 ? content.toString() : '';
    if (status >= 200 && status < 300) return { content, text, etag: response.headers.get('etag') ?? '' };
    const words = refusal(status, within(text, 'Code') ?? '');
    throw status >= 500 || status === 429 || status === 408 ? new Again(words) : new Error(words);
  }

  async #sign({ method, key, query = {}, body, range }: Call) {
    const { name, settings, credentials } = this.#deps;
    const path = `${name}${key === undefined ? '' : `/${key}`}`.split('/').map(escaped).join('/');
    const search = Object.entries(query).map((pair) => pair.map(escaped).join('='));
    const url = `${this.#origin}/${path}${search.length > 0 ? `?${search.join('&')}` : ''}`;
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const headers = { 'x-amz-content-sha256': digest, ...(range && { range: `bytes=${range.join('-')}` }) };
    const signer = new AwsV4Signer({ method, url, headers, service: 's3', region: settings.region, ...credentials });
    return { ...(await signer.sign()), body };
  }
}

function within(xml: string, element: string): string | undefined {
  const text = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];
  return text === undefined ? undefined : unescaped(text);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:(\w+)|#(\d+)|#x([0-9a-f]+));/gi, (whole, name, decimal, hex) =>
    name === undefined
      ? String.fromCodePoint(Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10))
      : (entities[name] ?? whole),
  );
}

/**
 * Encodes one component of a URL for signatures. Escapes all characters except the unreserved characters of RFC 3986.
 */
function escaped(part: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(part).replace(/[!'()*]/g, hex);
}

/** The remedies for error responses, by error code. */
const remedies: Readonly<Record<string, string>> = {
  AccessDenied: 'these credentials do not permit listing, reading, writing and deleting there',
  ExpiredToken: 'the session token expired',
  InvalidAccessKeyId: 'the access key is unknown',
  NoSuchBucket: 'create the bucket first, or correct its name',
  RequestTimeTooSkewed: 'correct the clock of this machine',
  SignatureDoesNotMatch: 'the secret does not match the access key, or the region is wrong',
};

function refusal(status: number, code: string): string {
  const isElsewhere = status >= 300 && status < 400;
  const remedy = isElsewhere ? 'the bucket is in another region or at another address' : remedies[code];
  return `The bucket responded with ${`${status} ${code}`.trim()}${remedy === undefined ? '' : `: ${remedy}`}`;
}

function describeError(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return String(cause?.code ?? code ?? 'no reason given');
}

/** Minimum size of a part of an upload. S3 allows at most 10 000 parts of at least 5 MiB. */
const minPartBytes = 16 * 1024 * 1024;
const maxParts = 9000;

/** Prefix of the name of a backup in the data directory until its upload is complete. */
const waiting = 'backup.upload';

/**
 * Keeps backups in a bucket. A backup is first written to the data directory, so that reading the store does not wait
 * for the network.
 * @param to `s3://BUCKET/PREFIX`
 */
export function bucketDestination(to: string, settings: S3Settings, data: string, signal: AbortSignal): Destination {
  const [, name = '', folder = ''] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/?$/.exec(to) ?? [];
  const prefix = folder === '' ? '' : `${folder}/`;
  const credentials = readCredentials(settings.credentials, process.env);
  const bucket = new Bucket({ name, settings, credentials, signal });
  return {
    files: async () => (await bucket.list(prefix)).map(({ key, bytes }) => ({ name: key.slice(prefix.length), bytes })),
    open: ({ name: backup, bytes }) => openObject(bucket, prefix + backup, bytes, `${to.replace(/\/$/, '')}/${backup}`),
    async put(backup, write, pace) {
      removeWaiting(data);
      const file = join(data, `${waiting}.${process.pid}`);
      const written = await writeFileWhole(file, write);
      const lock = lockWritten(file);
      try {
        await upload(bucket, prefix + backup, file, minPartBytes, pace);
        return written;
      } finally {
        closeSync(lock);
        await removeGently(file, pace);
      }
    },
    remove: (backup) => bucket.remove(prefix + backup),
  };
}

/** Removes the files of killed processes. Keeps locked files, because running processes lock their files. */
function removeWaiting(data: string): void {
  for (const left of readdirSync(data).filter((each) => each.startsWith(waiting)))
    if (!isLocked(join(data, left))) rmSync(join(data, left), { force: true });
}

/** Opens an object, which is read in parts. A failed request repeats only its part. @param name for messages */
function openObject(bucket: Bucket, key: string, size: number, name: string): BackupStream {
  let at = 0;
  const read = readChunks(async () => {
    if (at >= size) return undefined;
    const part = await bucket.get(key, at, Math.min(minPartBytes, size - at));
    at += part.length;
    return part;
  });
  return { name, size, read, close: () => {} };
}

/** Uploads a file to a bucket, in parts if it is large. */
export async function upload(
  bucket: Bucket,
  key: string,
  file: string,
  partBytes = minPartBytes,
  pace?: Pick<Pace, 'report'>,
): Promise<void> {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    if (size <= partBytes) {
      await bucket.put(key, readPart(descriptor, 0, size));
      return;
    }
    const report = (done: number) => pace?.report({ done, total: size });
    await uploadParts(bucket, key, {
      descriptor,
      size,
      partBytes: Math.max(partBytes, Math.ceil(size / maxParts)),
      report,
    });
  } finally {
    closeSync(descriptor);
  }
}

interface Upload {
  readonly descriptor: number;
  readonly size: number;
  readonly partBytes: number;
  report(done: number): void;
}

async function uploadParts(
  bucket: Bucket,
  key: string,
  { descriptor, size, partBytes, report }: Upload,
): Promise<void> {
  const id = await bucket.begin(key);
  try {
    const tags: string[] = [];
    for (let at = 0; at < size; at += partBytes) {
      const part = readPart(descriptor, at, Math.min(partBytes, size - at));
      tags.push(await bucket.putPart(key, id, tags.length + 1, part));
      report(at + part.length);
    }
    await bucket.complete(key, id, tags);
  } catch (error) {
    // If this request fails too, the bucket's lifecycle rule for incomplete uploads frees the parts.
    await bucket.abort(key, id).catch(() => {});
    throw error;
  }
}

function readPart(descriptor: number, at: number, length: number): Buffer {
  const part = Buffer.allocUnsafe(length);
  if (readSync(descriptor, part, 0, length, at) < length) throw new Error('The backup file is truncated');
  return part;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const names = {
  accessKeyId: 'aws_access_key_id',
  secretAccessKey: 'aws_secret_access_key',
  sessionToken: 'aws_session_token',
} as const;

/**
 * Reads the credentials from the environment or from a file in the format of AWS, with lines `name = value`. The
 * credentials are read for each backup.
 * @throws {Error} if credentials are missing. The message does not contain credentials
 */
export function readCredentials(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Credentials {
  const read = file === undefined ? (name: string) => env[name.toUpperCase()] : fromFile(file);
  const [accessKeyId, secretAccessKey, sessionToken] = Object.values(names).map(read);
  if (!accessKeyId || !secretAccessKey) {
    const where = file === undefined ? 'the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)' : file;
    throw new Error(`Cannot find the credentials of the bucket in ${where}`);
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

function fromFile(file: string): (name: string) => string | undefined {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    throw new Error(`Cannot read the credentials of the bucket in ${file}: ${explainFileError(error, file)}`);
  }
  const lines = Array.from(text.matchAll(/^\s*(\w+)\s*=\s*(\S+)\s*$/gm), ([, name, value]) => [name, value] as const);
  const values = new Map(lines);
  return (name) => values.get(name);
}
