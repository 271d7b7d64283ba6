/** The modules of a symbol by row and column; true is dark. */
export type Modules = readonly (readonly boolean[])[];

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
export function drawSymbol(version: number, codewords: Uint8Array): Modules {
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
