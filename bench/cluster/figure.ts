/** A measured figure, and its target. */
export interface Figure {
  readonly name: string;
  /** The value with its unit. */
  readonly measured: string;
  /** The target, such as `at least 0.95`; empty for a figure without a target. */
  readonly target: string;
  /** True if the target is met; `undefined` without a target. */
  readonly met: boolean | undefined;
  /** The value in the JSON output. */
  readonly value: number;
}

/** Returns a figure with a minimum. */
export function atLeast(name: string, value: number, target: number, unit = ''): Figure {
  return { name, measured: shown(value, unit), target: `≥ ${shown(target, unit)}`, met: value >= target, value };
}

/** Returns a figure with a maximum. */
export function atMost(name: string, value: number, target: number, unit = ''): Figure {
  return { name, measured: shown(value, unit), target: `≤ ${shown(target, unit)}`, met: value <= target, value };
}

/** Returns a figure without a target. */
export function told(name: string, value: number, unit = ''): Figure {
  return { name, measured: shown(value, unit), target: '', met: undefined, value };
}

function shown(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toLocaleString('en-GB', { maximumFractionDigits: digits })}${unit === '' ? '' : ` ${unit}`}`;
}
