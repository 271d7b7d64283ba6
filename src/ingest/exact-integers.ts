/** Maximum digits of an integer: far more than any hash has. */
const maxDigits = 256;

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,4}))?$/i;

/**
 * Converts an integer to its canonical spelling: `-12`, no leading zeros, no exponent, no minus before zero.
 * @param spelled a decimal number in any spelling: `007`, `1e3`, `1.0`
 * @returns `undefined` if it is not an integer, or has more than 256 digits
 */
export function canonicalInteger(spelled: string): string | undefined {
  const found = decimal.exec(spelled);
  if (found === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = found;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  const point = digits.length - fraction.length + Number(exponent);
  if (point < 1 || point > maxDigits || /[1-9]/.test(digits.slice(point))) return undefined;
  return `${sign}${digits.slice(0, point).padEnd(point, '0')}`;
}

/**
 * Quotes every number in a JSON text that a double may not represent exactly, so that `JSON.parse` keeps its digits.
 * @param text valid JSON; invalid text could become valid
 */
export function quoteLargeNumbers(text: string): string {
  const parts: string[] = [];
  let taken = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '"') at = endOfString(text, at);
    else if (character === '-' || (character >= '0' && character <= '9')) {
      const end = endOfNumber(text, at);
      if (!(Math.abs(Number(text.slice(at, end))) <= Number.MAX_SAFE_INTEGER)) {
        parts.push(text.slice(taken, at), '"', text.slice(at, end), '"');
        taken = end;
      }
      at = end - 1;
    }
  }
  parts.push(text.slice(taken));
  return parts.join('');
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && '0123456789.eE+-'.includes(text[at]!)) at += 1;
  return at;
}
