const number = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 6 });

/** A number with its unit. */
export function quantity(value: number | undefined, unit: string | undefined): string {
  if (value === undefined) return '–';
  return unit === undefined ? number.format(value) : `${number.format(value)} ${unit}`;
}
