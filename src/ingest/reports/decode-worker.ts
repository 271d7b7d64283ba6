import { move, transferableSymbol, valueSymbol } from 'piscina';
import { ApiError } from '../../contract/errors.ts';
import { type Layer, SentBody } from '../../http/sent-body.ts';
import { collectGarbage } from '../../runtime/garbage.ts';
import { failureOf, type Outcome } from '../../runtime/thread-calls.ts';
import { logThreadConsole } from '../../runtime/worker-log.ts';
import { condense } from './condense.ts';
import { type FormatName, formats } from './formats.ts';
import type { CondensedReport } from './report.ts';

export interface DecodeTask {
  readonly format: FormatName;
  readonly bytes: Uint8Array;
  readonly layers: readonly Layer[];
  /** Maximum decompressed length in bytes. */
  readonly limit: number;
}

export type Decoded = Outcome<CondensedReport> & {
  /** Decompressed length of the report. */
  readonly bytes: number;
};

logThreadConsole();

/** Decompresses and decodes a report, and converts it to arrays. */
export function decode({ format, bytes: sent, layers, limit }: DecodeTask): unknown {
  let bytes = limit;
  try {
    const body = new SentBody(sent, layers, limit).unpack();
    bytes = body.length;
    const report = condense(formats[format].decode(body));
    const { names, nameEnds, entries, users } = report;
    const memory = [names, nameEnds, entries, users].map(({ buffer }) => buffer);
    const decoded: Decoded = { bytes, ok: true, value: report };
    return move({ [transferableSymbol]: memory, [valueSymbol]: decoded } as never);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { bytes, ok: false, failure: failureOf(error) } satisfies Decoded;
  } finally {
    setImmediate(collectGarbage);
  }
}
