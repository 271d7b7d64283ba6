const units: ReadonlyMap<string, number> = new Map([
  ['GiB', 1_073_741_824],
  ['MiB', 1_048_576],
  ['KiB', 1_024],
]);

/** Parses a size such as 65536, "65536" or, with `suffixes`, "64KiB". @returns NaN for an invalid size */
export function parseSize(raw: unknown, suffixes: boolean): number {
  if (typeof raw === 'number') return raw;
  const [, digits, unit] = /^(\d+)(KiB|MiB|GiB)?$/.exec(typeof raw === 'string' ? raw : '') ?? [];
  if (digits === undefined || (unit !== undefined && !suffixes)) return Number.NaN;
  return Number(digits) * (units.get(unit ?? '') ?? 1);
}

/** Formats a byte count in the largest unit that divides it: `64KiB` for 65536, but `1000` for 1000. */
export function showSize(bytes: number): string {
  for (const [unit, size] of units) {
    if (bytes > 0 && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}
