import { Packr } from 'msgpackr';
import { assert } from '../../runtime/assert.ts';
import type { Envelope } from './envelope.ts';
import { type SealedRecords, sealedFrom, wholeOf } from './records/record-buffer.ts';

/*
 * A sealed batch as the body of a frame of the journal, little-endian: the version (u32), the number of bytes (u32) of the
 * records of each of `kinds`, the records (see `RecordBuffer`), and everything else as MessagePack.
 */
const version = 1;
const kinds = ['counts', 'measurements', 'users', 'exposures', 'messages'] as const;
const headBytes = 4 * (1 + kinds.length);

// A frame must not depend on structures defined by earlier frames.
const packr = new Packr({ useRecords: false });

/** The parts of a frame's body, to be written in order before the batch is released. */
export function encodeEnvelope(envelope: Envelope): Uint8Array[] {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(version, 0);
  const parts: Uint8Array[] = [head];
  for (const [index, kind] of kinds.entries()) {
    const records = wholeOf(envelope[kind], envelope.batch);
    head.writeUInt32LE(records.byteLength, 4 * (index + 1));
    if (records.byteLength > 0) parts.push(records);
  }
  const { batch, series, mints, uses, forgotten, unresolved, senders, ledger } = envelope;
  parts.push(packr.pack([batch, series, mints, uses, forgotten, unresolved, senders, ledger]));
  return parts;
}

/**
 * Decodes a batch from a frame's body, which must not change while the batch is used.
 * @throws {Error} if a later version wrote it
 */
export function decodeEnvelope(body: Uint8Array): Envelope {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const found = view.getUint32(0, true);
  if (found !== version) throw new Error(`a later version of flagmeter wrote it, in version ${found}`);
  let at = headBytes;
  const records: Partial<Record<(typeof kinds)[number], SealedRecords>> = {};
  for (const [index, kind] of kinds.entries()) {
    const end = at + view.getUint32(4 * (index + 1), true);
    if (end > at) records[kind] = sealedFrom(body.subarray(at, end));
    at = end;
  }
  assert(at < body.length, 'a frame is whole');
  const [batch, series, mints, uses, forgotten, unresolved, senders, ledger] = packr.unpack(
    body.subarray(at),
  );
  const { counts, measurements, users, exposures, messages } = records;
  return {
    ...{ batch, counts, measurements, users, exposures, messages },
    ...{ series, mints, uses, forgotten, unresolved, senders, ledger },
  };
}
