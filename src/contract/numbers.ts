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
