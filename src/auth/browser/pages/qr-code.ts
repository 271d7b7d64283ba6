import { encode } from 'uqr';

/** The dark modules as the path of an SVG whose view box has this size. Add a light margin of four modules. */
interface QrCode {
  readonly size: number;
  readonly path: string;
}

/** Capacity of version 22 at error correction level L, in bytes: more than a key URI has. */
const maxBytes = 1003;

/**
 * Draws a QR code for authenticator apps to read from a screen.
 * @returns `undefined` if the text is too long
 */
export function qrCode(text: string): QrCode | undefined {
  if (Buffer.byteLength(text) > maxBytes) return undefined;
  const { size, data } = encode(text, { ecc: 'L', border: 0 });
  return { size, path: data.map(pathOf).join('') };
}

/** One rectangle for each run of dark modules in a row. */
function pathOf(row: readonly boolean[], y: number): string {
  const text = row.map((dark) => (dark ? '1' : '0')).join('');
  const runs = Array.from(text.matchAll(/1+/g));
  return runs.map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`).join('');
}
