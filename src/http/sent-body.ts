import { constants, gunzipSync, inflateSync } from 'node:zlib';
import { Refusal } from '../contract/errors.ts';
import { contentCoding, inflate, overhead } from './body.ts';
import { checkFrame, decodeBase64, findInflater, headerBytes, isCompressed } from './grpc-frame.ts';
import type { ByteBudget, Request } from './types.ts';

export type Layer =
  | { readonly kind: 'gzip' | 'deflate' | 'base64' }
  /** A gRPC frame. @see findInflater */
  | { readonly kind: 'frame'; readonly encoding: string | undefined };

/** Number of bytes of a compressed body that are decompressed to find the sender, whose key SDKs write first. */
const peekBytes = 512;

/** Maximum decompressed length of those first bytes. If they exceed it, the sender counts as unknown. */
const maxPeeked = 64 * 1024;

/** A body as sent: compressed, in base64, or in a frame whose message is compressed. */
export class SentBody {
  readonly bytes: Uint8Array;
  /** Body layers, outermost first. */
  readonly layers: readonly Layer[];
  readonly limit: number;

  constructor(bytes: Uint8Array, layers: readonly Layer[], limit: number) {
    this.bytes = bytes;
    this.layers = layers;
    this.limit = limit;
  }

  /** @throws {Refusal} `body_too_large`, `invalid_content_encoding`, `invalid_protobuf`, `message_compressed` */
  unpack(limit = this.limit): Uint8Array {
    let bytes = this.bytes;
    this.layers.forEach((layer, at) => {
      bytes = undo(layer, bytes, roomFor(this.layers.slice(at + 1), limit));
    });
    if (bytes.length > limit)
      throw new Refusal('body_too_large', `A body may have at most ${limit} bytes after decompression`);
    return bytes;
  }

  /**
   * Removes all layers of a short body. Stops after decompressing `length` bytes.
   * @returns `undefined` if the content is longer than `length`, but could be within `limit`
   * @throws {Refusal} the refusals of `unpack`
   */
  unpackWithin(length: number): Uint8Array | undefined {
    if (length >= this.limit) return this.unpack();
    if (this.bytes.length > roomFor(this.layers, length) || this.#declared > roomFor(this.layers.slice(1), length))
      return undefined;
    try {
      return this.unpack(length);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'body_too_large') return undefined;
      throw error;
    }
  }

  /** Returns the beginning of the content, enough to find its sender; `undefined` if it cannot be decompressed. */
  beginning(): Uint8Array | undefined {
    try {
      return this.layers.reduce(peekInto, this.bytes);
    } catch {
      return undefined;
    }
  }

  /** Decompressed length in the gzip trailer (RFC 1952 §2.3.1), which can be wrong. */
  get #declared(): number {
    const { bytes, layers } = this;
    if (layers[0]?.kind !== 'gzip' || bytes.length < 4) return 0;
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
  }
}

const gzip = [{ kind: 'gzip' }] as const;

/**
 * Reads a body without decompressing it.
 * @param limit maximum decompressed length in bytes
 * @throws {Refusal} the refusals of `Request.body`, and `invalid_content_encoding`
 */
export function readSent(request: Request, limit: number, budget: ByteBudget): Promise<Uint8Array | SentBody> {
  if (contentCoding(request) === undefined) return request.body(limit, budget);
  const packed = request.body(limit + overhead(limit), budget);
  return packed.then((bytes) => new SentBody(bytes, gzip, limit));
}

function undo(layer: Layer, bytes: Uint8Array, limit: number): Uint8Array {
  switch (layer.kind) {
    case 'base64':
      return decodeBase64(bytes);
    case 'frame': {
      checkFrame(bytes);
      const message = bytes.subarray(headerBytes);
      return isCompressed(bytes) ? inflate(message, limit, findInflater(layer.encoding)) : message;
    }
    default:
      return inflate(bytes, limit, layer.kind);
  }
}

function roomFor(layers: readonly Layer[], limit: number): number {
  let room = limit;
  for (const { kind } of layers.toReversed()) {
    if (kind === 'frame') room += headerBytes;
    else if (kind === 'base64') room = 4 * Math.ceil(room / 3) + 16;
    else room += overhead(room);
  }
  return room;
}

function peekInto(bytes: Uint8Array, layer: Layer): Uint8Array {
  switch (layer.kind) {
    case 'base64':
      return Buffer.from(Buffer.from(bytes.subarray(0, maxPeeked)).toString('latin1'), 'base64');
    case 'frame': {
      const message = bytes.subarray(headerBytes);
      return isCompressed(bytes) ? inflateBeginning(message, findInflater(layer.encoding)) : message;
    }
    default:
      return inflateBeginning(bytes, layer.kind);
  }
}

function inflateBeginning(bytes: Uint8Array, kind: 'gzip' | 'deflate'): Uint8Array {
  const begin = { gzip: gunzipSync, deflate: inflateSync }[kind];
  return begin(bytes.subarray(0, peekBytes), { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxPeeked });
}
