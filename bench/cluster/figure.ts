/** One thing that was measured, beside what it has to be. */
export interface Figure {
  readonly name: string;
  /** With its unit. */
  readonly measured: string;
  /** `at least 0.95`; empty when there is none. */
  readonly target: string;
  /** `undefined` when there is no target. */
  readonly met: boolean | undefined;
  /** For `--json`. */
  readonly value: number;
}

/** A figure that has to be at least so much. */
export function atLeast(name: string, value: number, target: number, unit = ''): Figure {
  return {
    name,
    measured: shown(value, unit),
    target: `≥ ${shown(target, unit)}`,
    met: value >= target,
    value,
  };
}

/** A figure that must not be more. */
export function atMost(name: string, value: number, target: number, unit = ''): Figure {
  return {
    name,
    measured: shown(value, unit),
    target: `≤ ${shown(target, unit)}`,
    met: value <= target,
    value,
  };
}

/** A figure that is told for its own sake. */
export function told(name: string, value: number, unit = ''): Figure {
  return { name, measured: shown(value, unit), target: '', met: undefined, value };
}

function shown(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toLocaleString('en-GB', { maximumFractionDigits: digits })}${unit === '' ? '' : ` ${unit}`}`;
}
