import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recall } from '../../../src/grpc/protobuf.ts';

const recallText = (text: string) => {
  const bytes = Buffer.from(`<${text}>`);
  return recall(bytes, 1, bytes.length - 1);
};

describe('recall', () => {
  it('recall returns the text of the given bytes, regardless of earlier lookups', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 64 });
    fc.assert(
      fc.property(fc.array(ascii, { maxLength: 50 }), (texts) => {
        for (const text of [...texts, ...texts]) expect(recallText(text)).toBe(text);
      }),
    );
  });

  it('recall returns the right text even if another text occupies its slot', () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => `feature-${index}`);
    expect(texts.map(recallText)).toEqual(texts);
    expect(texts.map(recallText)).toEqual(texts);
  });

  it.each(['é', 'a'.repeat(65)])('recall returns undefined for %s, because such a text is never cached', (text) => {
    expect(recallText(text)).toBeUndefined();
  });
});
