/** A measured figure, and its target. */
export interface Figure {
  readonly name: string;
  /** With unit. */
  readonly measured: string;
  /** `at least 0.95`; empty without a target. */
  readonly target: string;
  /** `undefined` without a target. */
  readonly met: boolean | undefined;
  /** For `--json`. */
  readonly value: number;
}

/** A figure with a minimum. */
export function atLeast(name: string, value: number, target: number, unit = ''): Figure {
  return { name, measured: shown(value, unit), target: `≥ ${shown(target, unit)}`, met: value >= target, value };
}

/** A figure with a maximum. */
export function atMost(name: string, value: number, target: number, unit = ''): Figure {
  return { name, measured: shown(value, unit), target: `≤ ${shown(target, unit)}`, met: value <= target, value };
}

/** A figure without a target. */
export function told(name: string, value: number, unit = ''): Figure {
  return { name, measured: shown(value, unit), target: '', met: undefined, value };
}

function shown(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toLocaleString('en-GB', { maximumFractionDigits: digits })}${unit === '' ? '' : ` ${unit}`}`;
}
