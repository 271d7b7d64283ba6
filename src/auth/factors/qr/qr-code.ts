import { drawSymbol, type Modules } from './symbol.ts';

/*
 * A QR code (ISO/IEC 18004:2015) in byte mode with error correction level L, for authenticator apps to read from a screen.
 * Versions up to 22 hold 1003 bytes, more than a key URI has.
 */

/** The dark modules as the path of an SVG whose view box has this size. Add a light margin of four modules. */
export interface QrCode {
  readonly size: number;
  readonly path: string;
}

/** Error correction codewords of a block, and blocks, by version (table 9, level L). */
const correction = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28];
const blocks = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9];

/** @returns `undefined` if the text is too long */
export function qrCode(text: string): QrCode | undefined {
  const bytes = Buffer.from(text);
  const version =
    correction.findIndex((_, at) => headBits(at + 1) + 8 * bytes.length <= 8 * dataLength(at + 1)) + 1;
  if (version === 0) return undefined;
  const codewords = interleave(padded(bytes, version), version);
  const modules = drawSymbol(version, codewords);
  return { size: modules.length, path: pathOf(modules) };
}

/** One rectangle for each run of dark modules in a row. */
function pathOf(modules: Modules): string {
  const runs = modules.flatMap((row, y) => {
    const text = row.map((dark) => (dark ? '1' : '0')).join('');
    return Array.from(
      text.matchAll(/1+/g),
      ({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`,
    );
  });
  return runs.join('');
}

/** Bits of the mode and the character count. */
function headBits(version: number): number {
  return 4 + (version < 10 ? 8 : 16);
}

/** Codewords of a symbol (§6.4.10): the modules that no pattern occupies. */
function codewordsOf(version: number): number {
  const aligned = version < 2 ? 0 : Math.floor(version / 7) + 2;
  const alignment = aligned === 0 ? 0 : (25 * aligned - 10) * aligned - 55;
  const modules = (16 * version + 128) * version + 64 - alignment - (version < 7 ? 0 : 36);
  return Math.floor(modules / 8);
}

function dataLength(version: number): number {
  return codewordsOf(version) - correction[version - 1]! * blocks[version - 1]!;
}

/** The data codewords: mode, count, bytes, terminator and padding (§7.4). */
function padded(bytes: Uint8Array, version: number): Uint8Array {
  const bits: number[] = [];
  const add = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at -= 1) bits.push((value >>> at) & 1);
  };
  add(0b0100, 4);
  add(bytes.length, headBits(version) - 4);
  for (const byte of bytes) add(byte, 8);
  const length = dataLength(version);
  add(0, Math.min(4, 8 * length - bits.length));
  add(0, -bits.length & 7);
  for (let pad = 0xec; bits.length < 8 * length; pad ^= 0xec ^ 0x11) add(pad, 8);
  return Uint8Array.from({ length }, (_, at) =>
    bits.slice(8 * at, 8 * at + 8).reduce((sum, bit) => 2 * sum + bit, 0),
  );
}

/** The codewords in the order of the symbol: those of each block with its error correction, interleaved (§7.6). */
function interleave(data: Uint8Array, version: number): Uint8Array {
  const count = blocks[version - 1]!;
  const divisor = generator(correction[version - 1]!);
  const short = Math.floor(data.length / count);
  const firstLong = count - (data.length % count);
  const parts: Uint8Array[] = [];
  for (let at = 0, start = 0; at < count; at += 1) {
    const end = start + short + (at < firstLong ? 0 : 1);
    parts.push(data.subarray(start, end));
    start = end;
  }
  const checks = parts.map((part) => remainder(part, divisor));
  const columns = (rows: readonly Uint8Array[]) =>
    Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, at) =>
      rows.flatMap((row) => row[at] ?? []),
    ).flat();
  return Uint8Array.from([...columns(parts), ...columns(checks)]);
}

/** The product of two elements of GF(256) modulo x⁸ + x⁴ + x³ + x² + 1. */
function product(a: number, b: number): number {
  let sum = 0;
  for (let at = 7; at >= 0; at -= 1) sum = (sum << 1) ^ ((sum >>> 7) * 0x11d) ^ (((b >>> at) & 1) * a);
  return sum;
}

/** The generator polynomial of Reed–Solomon codes of this degree, without its leading 1. */
function generator(degree: number): Uint8Array {
  const result = new Uint8Array(degree);
  result[degree - 1] = 1;
  for (let power = 0, root = 1; power < degree; power += 1, root = product(root, 2))
    for (let at = 0; at < degree; at += 1) result[at] = product(result[at]!, root) ^ (result[at + 1] ?? 0);
  return result;
}

function remainder(data: Uint8Array, divisor: Uint8Array): Uint8Array {
  const result = new Uint8Array(divisor.length);
  for (const byte of data) {
    const factor = byte ^ result[0]!;
    result.copyWithin(0, 1);
    result[result.length - 1] = 0;
    for (const [at, coefficient] of divisor.entries()) result[at]! ^= product(coefficient, factor);
  }
  return result;
}
