import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recall } from '../../../src/grpc/recalled-texts.ts';

const recallText = (text: string) => {
  const bytes = Buffer.from(`<${text}>`);
  return recall(bytes, 1, bytes.length - 1);
};

describe('recall', () => {
  it('gives the text of the bytes, whatever was asked for before', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 64 });
    fc.assert(
      fc.property(fc.array(ascii, { maxLength: 50 }), (texts) => {
        for (const text of [...texts, ...texts]) expect(recallText(text)).toBe(text);
      }),
    );
  });

  it('gives the text though another one has its place in the table', () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => `feature-${index}`);
    expect(texts.map(recallText)).toEqual(texts);
    expect(texts.map(recallText)).toEqual(texts);
  });

  it.each(['é', 'a'.repeat(65)])('does not know %s', (text) => {
    expect(recallText(text)).toBeUndefined();
  });
});
