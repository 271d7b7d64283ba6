import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText, parseJson, readBody } from '../../src/http/body.ts';
import { fakeRequest } from './support/fake-request.ts';

const limit = 1_000;
const read = (body: Uint8Array, encoding?: string) =>
  readBody(fakeRequest({ body, headers: encoding === undefined ? {} : { 'content-encoding': encoding } }), limit);
const refused = (code: string) => expect.objectContaining({ code });
const hello = Buffer.from('hello');
const packed = gzipSync(hello);

describe('readBody', () => {
  it.each([undefined, '', 'identity', 'Identity'])('returns a body with encoding %j unchanged', async (encoding) => {
    expect(await read(hello, encoding)).toBe(hello);
  });

  it('returns the body promise of the HTTP engine unchanged if the body has no content encoding', () => {
    const promise = Promise.resolve(hello);
    expect(readBody({ ...fakeRequest({}), body: () => promise }, limit)).toBe(promise);
  });

  it('decompresses a body to its original content, or refuses a body that is larger than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 2 * limit }),
        fc.integer({ min: 0, max: 9 }),
        async (bytes, level) => {
          const inflated = read(gzipSync(bytes, { level }), 'gzip');
          if (bytes.length > limit) await expect(inflated).rejects.toThrow(refused('body_too_large'));
          else expect(Buffer.from(await inflated).equals(bytes)).toBe(true);
        },
      ),
    );
  });

  it('refuses a body that is one byte over the limit after decompression', async () => {
    expect(await read(gzipSync(Buffer.alloc(limit)), 'gzip')).toHaveLength(limit);
    await expect(read(gzipSync(Buffer.alloc(limit + 1)), 'gzip')).rejects.toThrow(refused('body_too_large'));
  });

  it('accepts a gzip body of several members (RFC 1952 §2.2)', async () => {
    expect(Buffer.from(await read(Buffer.concat([packed, packed]), 'gzip')).toString()).toBe('hellohello');
  });

  it('accepts a gzip body that is slightly longer than the limit of its decompressed content', async () => {
    const limits: number[] = [];
    const body = (most: number) => {
      limits.push(most);
      return Promise.resolve(packed);
    };
    await readBody({ ...fakeRequest({ headers: { 'content-encoding': 'gzip' } }), body }, 65_536);
    expect(limits[0]).toBeGreaterThan(gzipSync(Buffer.alloc(65_536), { level: 0 }).length);
    expect(limits[0]).toBeLessThan(66_100);
  });

  it('stops decompressing a gzip bomb at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 20; round += 1) {
      await expect(read(bomb, 'gzip')).rejects.toThrow(refused('body_too_large'));
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(30_000_000);
  });

  it.each([
    ['truncated', packed.subarray(0, -1)],
    ['empty', Buffer.alloc(0)],
    ['followed by text', Buffer.concat([packed, hello])],
    ['followed by zeros', Buffer.concat([packed, Buffer.alloc(8)])],
    ['damaged in its checksum', Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8)])],
    ['not gzip', hello],
    ['zlib', deflateSync(hello)],
  ])('refuses a gzip body that is %s', async (_, body) => {
    await expect(read(body, 'gzip')).rejects.toThrow(refused('invalid_content_encoding'));
  });

  it.each(['br', 'deflate', 'gzip, gzip', 'gzip,identity'])('refuses the content encoding %j', async (encoding) => {
    await expect(read(packed, encoding)).rejects.toThrow(refused('invalid_content_encoding'));
  });
});

describe('decodeText', () => {
  it('decodeText decodes UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(decodeText(Buffer.from(`x${text}`))).toBe(`x${text}`);
      }),
    );
  });

  it('decodeText omits one byte order mark at the beginning', () => {
    expect(decodeText(Buffer.from('\uFEFF\uFEFF{}'))).toBe('\uFEFF{}');
  });

  it.each(['ff', 'c080', 'e282', 'eda080', 'f4908080', '80'])('decodeText refuses the bytes %s', (hex) => {
    expect(() => decodeText(Buffer.from(hex, 'hex'))).toThrow(refused('invalid_encoding'));
    expect(decodeText(hello)).toBe('hello');
  });
});

describe('parseJson', () => {
  it('parseJson parses JSON', () => {
    expect(parseJson('{"a":[1,null]}')).toEqual({ a: [1, null] });
  });

  it.each(['', '{', '{} x', "{'a':1}", 'undefined', '[1,]'])('parseJson refuses the text %j', (text) => {
    expect(() => parseJson(text)).toThrow(refused('invalid_json'));
  });

  it('parseJson refuses malformed JSON without quoting it', () => {
    let refusal: unknown;
    try {
      parseJson('{"clientSecret": hush}');
    } catch (error) {
      refusal = error;
    }
    expect((refusal as Error).message).not.toContain('hush');
  });
});
