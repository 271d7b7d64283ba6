import { createHash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { qrCode } from '../../../src/auth/browser/pages/second-factor-pages.ts';

/** Draws the dark modules of a QR code, row by row. */
function readRows(text: string): string[] {
  const { size, path } = qrCode(text)!;
  const rows = Array.from({ length: size }, () => new Array<string>(size).fill('.'));
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g))
    rows[Number(y)]!.fill('#', Number(x), Number(x) + Number(length));
  return rows.map((row) => row.join(''));
}

describe('a QR code', () => {
  it('a QR code has finder patterns in three corners', () => {
    const rows = readRows('otpauth://totp/flagmeter');
    const corner = (y: number, x: number) => rows.slice(y, y + 7).map((row) => row.slice(x, x + 7));
    const finder = ['#######', '#.....#', '#.###.#', '#.###.#', '#.###.#', '#.....#', '#######'];
    const far = rows.length - 7;
    expect([corner(0, 0), corner(0, far), corner(far, 0)]).toEqual([finder, finder, finder]);
  });

  // jsQR 1.4.0 decodes these QR codes to their texts.
  test.each([
    [17, 21, '5435f51351afca76'],
    [18, 25, '1ab6c0c730098683'],
    [100, 37, '44ef2e83f3ab45a4'],
    [300, 61, 'ac6fef9efe92be60'],
    [1003, 105, '4620370b7466b9d0'],
  ])('a text of %i bytes has a QR code of %i modules per side, which a scanner can read', (length, size, digest) => {
    const text = Array.from({ length }, (_, at) => String.fromCharCode(33 + ((at * 31) % 90))).join('');
    const rows = readRows(text);
    expect(rows).toHaveLength(size);
    expect(createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16)).toBe(digest);
  });

  it('a text that is too long has no QR code', () => {
    expect(qrCode('x'.repeat(1004))).toBeUndefined();
  });
});
