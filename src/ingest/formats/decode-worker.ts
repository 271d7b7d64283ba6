import { move, transferableSymbol, valueSymbol } from 'piscina';
import { Refusal } from '../../contract/errors.ts';
import { type Layer, SentBody } from '../../http/sent-body.ts';
import { collectGarbage } from '../../runtime/garbage.ts';
import { logThreadConsole } from '../../runtime/log.ts';
import { type CallResult, describeFailure } from '../../runtime/thread-calls.ts';
import { otlpDecoders } from './otlp/decode.ts';
import { reportDecoders } from './reports/formats.ts';
import { unleashDecoders } from './unleash/message.ts';

/** Decoders of large bodies, by format. Their results consist of arrays, which are cheap to pass between threads. */
const decoders = { ...reportDecoders, ...unleashDecoders, ...otlpDecoders };
export type LargeFormat = keyof typeof decoders;
export type DecodedBody<Format extends LargeFormat> = ReturnType<(typeof decoders)[Format]>;

export interface DecodeTask {
  readonly format: LargeFormat;
  readonly bytes: Uint8Array;
  readonly layers: readonly Layer[];
  /** Maximum decompressed length in bytes. */
  readonly limit: number;
}

export type DecodeResult = CallResult<DecodedBody<LargeFormat>> & {
  /** Decompressed length of the body. */
  readonly bytes: number;
};

logThreadConsole();

export function decode({ format, bytes: sent, layers, limit }: DecodeTask): unknown {
  let bytes = limit;
  try {
    const body = new SentBody(sent, layers, limit).unpack();
    bytes = body.length;
    const value = decoders[format](body);
    const memory = Object.values(value)
      .flat()
      .filter(ArrayBuffer.isView)
      .map(({ buffer }) => buffer);
    const decoded: DecodeResult = { bytes, ok: true, value };
    return move({ [transferableSymbol]: memory, [valueSymbol]: decoded } as never);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { bytes, ok: false, failure: describeFailure(error) } satisfies DecodeResult;
  } finally {
    setImmediate(collectGarbage);
  }
}
