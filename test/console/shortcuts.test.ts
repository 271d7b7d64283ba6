import { describe, expect, test } from 'vitest';
import { keySequence, type Shortcut } from '../../src/console/components/shortcuts.tsx';

function pressing(presses: readonly (readonly [key: string, at: number])[], offered: readonly string[]) {
  const shortcuts = offered.map((keys): Shortcut => ({ keys, help: '', run: () => undefined }));
  const take = keySequence(() => shortcuts);
  return presses.map(([key, at]) => take(key, at)?.keys);
}

describe('shortcuts', () => {
  test('a shortcut can consist of one key', () => {
    expect(pressing([['/', 0]], ['/', '?'])).toEqual(['/']);
  });

  test('a shortcut can consist of two keys in sequence', () => {
    expect(
      pressing(
        [
          ['g', 0],
          ['f', 500],
        ],
        ['g f', 'g m'],
      ),
    ).toEqual([undefined, 'g f']);
  });

  test('a shortcut ignores a second key that is pressed too late', () => {
    expect(
      pressing(
        [
          ['g', 0],
          ['f', 5000],
        ],
        ['g f'],
      ),
    ).toEqual([undefined, undefined]);
  });

  test('a new sequence of keys begins after a complete shortcut', () => {
    expect(
      pressing(
        [
          ['g', 0],
          ['f', 10],
          ['f', 20],
        ],
        ['g f', 'f f'],
      ),
    ).toEqual([undefined, 'g f', undefined]);
  });
});
