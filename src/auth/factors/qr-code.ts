/*
 * A QR code (ISO/IEC 18004:2015) in byte mode with error correction level L, for authenticator apps to read from a screen.
 * Versions up to 22 hold 1003 bytes, more than a key URI has.
 */

/** The dark modules as the path of an SVG whose view box has this size. Add a light margin of four modules. */
interface QrCode {
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

/** The modules of a symbol by row and column; true is dark. */
type Modules = readonly (readonly boolean[])[];

type Grid = boolean[][];

/** Conditions of the mask patterns: a module is inverted where the value is 0 (§7.8.2). */
const masks: readonly ((y: number, x: number) => number)[] = [
  (y, x) => (y + x) % 2,
  (y) => y % 2,
  (_, x) => x % 3,
  (y, x) => (y + x) % 3,
  (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2,
  (y, x) => ((y * x) % 2) + ((y * x) % 3),
  (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2,
  (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2,
];

/** Draws the patterns of a version, and places the codewords with the mask that is easiest to read. */
function drawSymbol(version: number, codewords: Uint8Array): Modules {
  const size = 17 + 4 * version;
  const modules: Grid = Array.from({ length: size }, () => new Array<boolean>(size).fill(false));
  const reserved: Grid = modules.map((row) => [...row]);
  const set = (y: number, x: number, dark: boolean) => {
    modules[y]![x] = dark;
    reserved[y]![x] = true;
  };
  drawPatterns(version, size, set);
  drawFormat(0, size, set); // Reserves its place.
  place(codewords, modules, reserved);
  const candidates = masks.map((mask, number) => {
    const drawn = modules.map((row, y) =>
      row.map((dark, x) => (reserved[y]![x] ? dark : dark !== (mask(y, x) === 0))),
    );
    drawFormat(number, size, (y, x, dark) => {
      drawn[y]![x] = dark;
    });
    return { drawn, penalty: penaltyOf(drawn) };
  });
  return candidates.reduce((best, each) => (each.penalty < best.penalty ? each : best)).drawn;
}

type Set = (y: number, x: number, dark: boolean) => void;

/** Timing, finder and alignment patterns, and the version (§6.3, §7.10). */
function drawPatterns(version: number, size: number, set: Set): void {
  for (let at = 0; at < size; at += 1) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  for (const [y, x] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    drawRings(y, x, 4, size, set);
  const centres = alignmentCentres(version, size);
  const last = centres.length - 1;
  for (const [row, y] of centres.entries())
    for (const [column, x] of centres.entries()) {
      const isFinder = (row === 0 && (column === 0 || column === last)) || (row === last && column === 0);
      if (!isFinder) drawRings(y, x, 2, size, set);
    }
  if (version < 7) return;
  const bits = (version << 12) | divide(version << 12, 0x1f25);
  for (let at = 0; at < 18; at += 1) {
    const dark = ((bits >>> at) & 1) === 1;
    const near = Math.floor(at / 3);
    const far = size - 11 + (at % 3);
    set(near, far, dark);
    set(far, near, dark);
  }
}

/** Concentric squares: a finder pattern with its separator, or an alignment pattern. */
function drawRings(centreY: number, centreX: number, radius: number, size: number, set: Set): void {
  for (let dy = -radius; dy <= radius; dy += 1)
    for (let dx = -radius; dx <= radius; dx += 1) {
      const distance = Math.max(Math.abs(dy), Math.abs(dx));
      const y = centreY + dy;
      const x = centreX + dx;
      if (y < 0 || x < 0 || y >= size || x >= size) continue;
      set(y, x, radius === 4 ? distance !== 2 && distance !== 4 : distance !== 1);
    }
}

/** Annex E. */
function alignmentCentres(version: number, size: number): readonly number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((4 * version + 4) / (2 * count - 2)) * 2;
  const rest = Array.from({ length: count - 1 }, (_, at) => size - 7 - at * step);
  return [6, ...rest.reverse()];
}

/** The level L and the mask, twice (§7.9). */
function drawFormat(mask: number, size: number, set: Set): void {
  const level = 0b01 << 3;
  const bits = (((level | mask) << 10) | divide((level | mask) << 10, 0x537)) ^ 0x5412;
  for (let at = 0; at < 15; at += 1) {
    const dark = ((bits >>> at) & 1) === 1;
    if (at < 8) set(8, size - 1 - at, dark);
    else set(size - 15 + at, 8, dark);
    if (at < 6) set(at, 8, dark);
    else if (at < 8) set(at + 1, 8, dark);
    else if (at === 8) set(8, 7, dark);
    else set(8, 14 - at, dark);
  }
  set(size - 8, 8, true);
}

/** The remainder of a division of polynomials over GF(2). */
function divide(value: number, divisor: number): number {
  const degree = 31 - Math.clz32(divisor);
  let rest = value;
  while (rest >= 1 << degree) rest ^= divisor << (31 - Math.clz32(rest) - degree);
  return rest;
}

/** Columns of two modules from the right, alternately upwards and downwards (§7.7.3). */
function place(codewords: Uint8Array, modules: Grid, reserved: Modules): void {
  const size = modules.length;
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const isUpward = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step += 1) {
      const y = isUpward ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (reserved[y]![x]) continue;
        modules[y]![x] = (((codewords[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1) === 1;
        bit += 1;
      }
    }
  }
}

/** How hard the modules are to read: long runs, blocks, shapes like finder patterns, and an uneven share (§7.8.3). */
function penaltyOf(modules: Modules): number {
  const size = modules.length;
  const columns = modules.map((_, x) => modules.map((row) => row[x]!));
  const lines = [...modules, ...columns].map((line) => line.map((dark) => (dark ? '1' : '0')).join(''));
  let penalty = 0;
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
    for (const _ of line.matchAll(/(?=10111010000|00001011101)/g)) penalty += 40;
  }
  for (let y = 1; y < size; y += 1)
    for (let x = 1; x < size; x += 1) {
      const dark = modules[y]![x];
      if (dark === modules[y - 1]![x] && dark === modules[y]![x - 1] && dark === modules[y - 1]![x - 1])
        penalty += 3;
    }
  const share = modules.flat().filter(Boolean).length / (size * size);
  return penalty + 10 * Math.floor(Math.abs(share - 0.5) * 20);
}
