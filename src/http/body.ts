import { gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { ApiError } from '../contract/errors.ts';
import type { ByteBudget, Request } from './types.ts';

/** What every body is refused for, in the words of the answers. */
export const bodyRefusals = {
  invalid_content_encoding: 'Send the body as it is, or as gzip',
  invalid_encoding: 'Send UTF-8',
  invalid_json: 'Send one JSON value',
} as const;

/**
 * Reads a body and undoes its `Content-Encoding`.
 * @param limit maximum length in bytes, inflated
 * @param budget is charged for its memory: see `Request.body`
 * @throws {ApiError} `body_too_large`; `invalid_content_encoding` when the encoding is unknown or the data is not in it
 * @throws {ClientGone} when the client went away in mid-body
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

/** How a body is compressed. @throws {ApiError} `invalid_content_encoding` when that is unknown */
export function contentCoding(request: Pick<Request, 'header'>): 'gzip' | undefined {
  switch (request.header('content-encoding')?.toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    default:
      throw new ApiError('invalid_content_encoding', bodyRefusals.invalid_content_encoding);
  }
}

/** What compression may add to bytes that do not compress: a header, and a little for each block. */
export const overhead = (limit: number) => 256 + Math.ceil(limit / 256);

/**
 * Undoes gzip or deflate. On the main thread, only with a limit that inflates faster than another thread could be asked to.
 * @param limit maximum length in bytes, inflated
 * @throws {ApiError} `body_too_large`, `invalid_content_encoding`
 */
export function inflate(packed: Uint8Array, limit: number, format: 'gzip' | 'deflate' = 'gzip'): Uint8Array {
  try {
    const { buffer, engine } = unpack[format](packed, { maxOutputLength: limit, info: true });
    if (engine.bytesWritten === packed.length) return buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ApiError('body_too_large', `A body may have ${limit} bytes at most, inflated`);
    }
  }
  throw new ApiError('invalid_content_encoding', `The body is not whole and valid ${format}`);
}

/** With `info` zlib also gives the number of bytes that it read, which shows whether anything follows; its types lack that. */
type Unpack = (
  packed: Uint8Array,
  options: ZlibOptions,
) => { buffer: Uint8Array; engine: { bytesWritten: number } };

const unpack = { gzip: gunzipSync, deflate: inflateSync } as unknown as Readonly<
  Record<'gzip' | 'deflate', Unpack>
>;

/** A leading byte order mark is dropped, as RFC 8259 §8.1 allows. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a body.
 * @throws {ApiError} `invalid_encoding` when it is not UTF-8
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ApiError('invalid_encoding', bodyRefusals.invalid_encoding);
  }
}

/**
 * The value of a JSON text. How deep it is and what numbers it holds is for the caller to check.
 * @throws {ApiError} `invalid_json`; the detail repeats nothing of the text, which may hold a secret
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError('invalid_json', bodyRefusals.invalid_json);
  }
}
