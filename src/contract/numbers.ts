const units = [
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/**
 * Returns a formatter of short numbers with the same letters in every locale: `312`, `66.5k`, `75.0M`. `Intl` mixes
 * `75m`, `23.6M` and `66.5K`.
 * @param zeros true to keep a first decimal that is 0, as in `75.0M`
 */
export function compactNumbers(locale: string | undefined, zeros = true): (value: number) => string {
  const plain = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: zeros ? 1 : 0, maximumFractionDigits: 1 });
  return (value) => {
    const size = Math.abs(value);
    // A number that rounds up to the next unit is shown in that unit.
    const found = units.find(([unit]) => size >= unit * (unit === 1e3 ? 1 : 0.9995));
    if (found === undefined) return plain.format(value);
    const [unit, letter] = found;
    return (size / unit < 99.95 ? tenths : whole).format(value / unit) + letter;
  };
}

/** Relative error of an estimated number of people. */
const peopleError = 0.02;

/**
 * Returns a formatter of estimated numbers of people with their error: `3,380 ± 70`, `1.23M ± 0.02M`. The number has
 * three significant digits, and the error ends at the same digit. The error of a small number is below 1 and omitted.
 */
export function peopleNumbers(locale: string | undefined): (count: number) => string {
  return (count) => {
    const place = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, count))) - 2);
    const value = Math.round(count / place) * place;
    const error = Math.round((count * peopleError) / place) * place;
    const [unit, letter] = value < 1e6 ? ([1, ''] as const) : ([1e6, 'M'] as const);
    const digits = Math.min(2, Math.max(0, Math.round(Math.log10(unit / place))));
    const format = new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const parts = error === 0 ? [value] : [value, error];
    return parts.map((part) => format.format(part / unit) + letter).join(' ± ');
  };
}

/**
 * Returns a formatter of fractions of 1 as percentages, with a decimal near 0 % and 100 %. Only 0 is `0%`, and only 1
 * is `100%`.
 */
export function shares(locale: string | undefined): (share: number) => string {
  const whole = new Intl.NumberFormat(locale, { style: 'percent' });
  const tenths = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  return (share) => {
    const size = Math.abs(share);
    if (size > 0 && size < 0.0005) return `<${tenths.format(0.001)}`;
    if (size > 0.9995 && size < 1) return `>${tenths.format(0.999)}`;
    const isNearAnEnd = (size > 0 && size < 0.0995) || (size >= 0.995 && size < 1);
    return (isNearAnEnd ? tenths : whole).format(share);
  };
}

const percent = shares('en');

type Weights = readonly (readonly [variant: string, weight: number])[];

/** Formats the weights or counts of variants as shares: `on 25%, off 75%`. */
export function weightsText(weights: Weights, format = percent): string {
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  return weights.map(([variant, weight]) => `${variant} ${format(weight / sum)}`).join(', ');
}
