import { move, transferableSymbol, valueSymbol } from 'piscina';
import { ApiError } from '../../contract/errors.ts';
import { type Layer, SentBody } from '../../http/sent-body.ts';
import { collectGarbage } from '../../runtime/garbage.ts';
import { failureOf, type Outcome } from '../../runtime/thread-calls.ts';
import { logThreadConsole } from '../../runtime/worker-log.ts';
import { decodeOtlp, isOtlp, type OtlpFormat } from './otlp/formats.ts';
import type { OtlpRequest } from './otlp/request.ts';
import { condense } from './reports/condense.ts';
import { type FormatName, formats } from './reports/formats.ts';
import type { CondensedReport } from './reports/report.ts';
import {
  decodeUnleash,
  isUnleash,
  type PackedMessage,
  packMessage,
  type UnleashFormat,
} from './unleash/message/parts.ts';

/** The formats of large bodies. */
export type LargeFormat = FormatName | OtlpFormat | UnleashFormat;

/** A decoded body, in arrays. */
export type Decoding<Format extends LargeFormat> = Format extends OtlpFormat
  ? OtlpRequest
  : Format extends UnleashFormat
    ? PackedMessage
    : CondensedReport;

export interface DecodeTask {
  readonly format: LargeFormat;
  readonly bytes: Uint8Array;
  readonly layers: readonly Layer[];
  /** Maximum decompressed length in bytes. */
  readonly limit: number;
}

export type Decoded = Outcome<Decoding<LargeFormat>> & {
  /** Decompressed length of the body. */
  readonly bytes: number;
};

logThreadConsole();

/** Decompresses and decodes a body, and converts it to arrays. */
export function decode({ format, bytes: sent, layers, limit }: DecodeTask): unknown {
  let bytes = limit;
  try {
    const body = new SentBody(sent, layers, limit).unpack();
    bytes = body.length;
    const value = decodeBody(format, body);
    const memory = Object.values(value)
      .flat()
      .filter(ArrayBuffer.isView)
      .map(({ buffer }) => buffer);
    const decoded: Decoded = { bytes, ok: true, value };
    return move({ [transferableSymbol]: memory, [valueSymbol]: decoded } as never);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { bytes, ok: false, failure: failureOf(error) } satisfies Decoded;
  } finally {
    setImmediate(collectGarbage);
  }
}

function decodeBody(format: LargeFormat, body: Uint8Array): Decoding<LargeFormat> {
  if (isOtlp(format)) return decodeOtlp(format, body);
  if (isUnleash(format)) return packMessage(decodeUnleash(format, body));
  return condense(formats[format].decode(body));
}
