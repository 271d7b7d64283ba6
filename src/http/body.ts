import { gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { Refusal } from '../contract/errors.ts';
import type { ByteBudget, Request } from './types.ts';

export const bodyRefusals = {
  invalid_content_encoding: 'Send the body uncompressed or compressed with gzip',
  invalid_encoding: 'Send UTF-8',
  invalid_json: 'Send one JSON value',
} as const;

/**
 * Reads and decompresses a body.
 * @param limit maximum decompressed length in bytes
 * @param budget is charged for the memory of the body: see `Request.body`
 * @throws {Refusal} `body_too_large`; `invalid_content_encoding` if the encoding is unknown or the data is malformed
 * @throws {DisconnectError} if the client disconnected in mid-body
 */
export function readBody(request: Request, limit: number, budget?: ByteBudget): Promise<Uint8Array> {
  if (request.header('content-encoding') === undefined) return request.body(limit, budget);
  return readCoded(request, limit, budget);
}

async function readCoded(request: Request, limit: number, budget?: ByteBudget): Promise<Uint8Array> {
  if (contentCoding(request) === undefined) return request.body(limit, budget);
  const packed = await request.body(limit + overhead(limit), budget);
  if (budget !== undefined && packed.length > budget.free) budget.give(packed.length);
  const body = inflate(packed, limit);
  if (budget !== undefined && body.length > budget.free) budget.take(body.length);
  return body;
}

/** @throws {Refusal} `invalid_content_encoding` if the compression is unknown */
export function contentCoding(request: Pick<Request, 'header'>): 'gzip' | undefined {
  const coding = request.header('content-encoding')?.toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return undefined;
  if (coding === 'gzip' || coding === 'x-gzip') return 'gzip';
  throw new Refusal('invalid_content_encoding', bodyRefusals.invalid_content_encoding);
}

/** Returns the most bytes that compression adds to a body: a header, and a few bytes for each block. */
export const overhead = (limit: number) => 256 + Math.ceil(limit / 256);

/**
 * Decompresses gzip or deflate. Use it on the main thread only for short bodies, because it blocks the thread.
 * @param limit maximum decompressed length in bytes
 * @throws {Refusal} `body_too_large`, `invalid_content_encoding`
 */
export function inflate(packed: Uint8Array, limit: number, format: 'gzip' | 'deflate' = 'gzip'): Uint8Array {
  try {
    const { buffer, engine } = unpack[format](packed, { maxOutputLength: limit, info: true });
    if (engine.bytesWritten === packed.length) return buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Refusal('body_too_large', `A body may have at most ${limit} bytes after decompression`);
    }
  }
  throw new Refusal('invalid_content_encoding', `The body is truncated or not valid ${format}`);
}

/** A zlib function with the option `info`, which Node's types lack. The number of bytes read reveals trailing data. */
type Unpack = (packed: Uint8Array, options: ZlibOptions) => { buffer: Uint8Array; engine: { bytesWritten: number } };

const unpack = { gzip: gunzipSync, deflate: inflateSync } as unknown as Readonly<Record<'gzip' | 'deflate', Unpack>>;

/** Decoder that drops a leading byte order mark, as RFC 8259 §8.1 allows. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8. @throws {Refusal} `invalid_encoding` if the bytes are not UTF-8 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Refusal('invalid_encoding', bodyRefusals.invalid_encoding);
  }
}

/**
 * Parses JSON. The caller must check the nesting depth, and the size of numbers.
 * @throws {Refusal} `invalid_json`; the detail does not quote the text, which can contain a secret
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('invalid_json', bodyRefusals.invalid_json);
  }
}

const token = "[!#$%&'*+.^_`|~\\w-]+";
const quoted = '"(?:[^"\\\\]|\\\\.)*"';
const gap = '[ \\t]*';
/** Pattern of a parameter. A charset must be UTF-8; other parameters are ignored, and can be empty. */
const parameter = `charset${gap}=${gap}(?:utf-8|"utf-8")|(?!charset${gap}=)${token}${gap}=${gap}(?:${token}|${quoted})`;

/**
 * Creates a check that a `Content-Type` header is one of the media types, in UTF-8 (RFC 9110 §8.3).
 * @param types media types in lower case
 * @returns a function that throws `invalid_content_type` for any other header
 */
export function contentTypeCheck(...types: readonly string[]): (value: string | undefined) => void {
  const names = types.map((type) => type.replace(/[.+]/g, '\\$&')).join('|');
  const pattern = new RegExp(`^${gap}(?:${names})${gap}(?:;${gap}(?:(?:${parameter})${gap})?)*$`, 'i');
  const [usual] = types;
  return (value) => {
    if (value !== undefined && (value === usual || pattern.test(value))) return;
    throw new Refusal('invalid_content_type', `Send ${types.join(' or ')}, in UTF-8`);
  };
}
