import { expect, test } from 'vitest';
import { reportDecoders } from '../../../src/ingest/formats/reports/formats.ts';

const head = '"appKey":"k","environment":"e","time":"2026-01-31T12:00:00Z"';
const tooLarge = expect.objectContaining({ code: 'body_too_large' });

/** Creates a message with a repeated bytes field. */
const repeated = (count: number, ...field: readonly number[]) => Buffer.concat(Array(count).fill(Buffer.from(field)));

test.each([
  ['usageJson', 'empty entries', `{${head},"stats":[${'{},'.repeat(200_000)}{}]}`],
  ['usageJson', 'unclosed entries', `{${head},"stats":[${'{'.repeat(200_000)}`],
  ['metricsJson', 'empty lists', `{${head},"stats":[${'[],'.repeat(200_000)}[]]}`],
  ['usageMessage', 'empty entries', repeated(200_000, 0x22, 0)],
  [
    'usageMessage',
    'empty variants of an entry',
    Buffer.concat([Buffer.from([0x22, 0x80, 0xb5, 0x18]), repeated(200_000, 0x5a, 0)]),
  ],
  ['metricsMessage', 'empty observations', repeated(200_000, 0x32, 0)],
] as const)('the decoder %s refuses more %s than the size of the body allows', (format, _, body) => {
  expect(() => reportDecoders[format](Buffer.from(body))).toThrow(tooLarge);
});

test.each([
  [
    'a bracket in every string',
    `{${head},"stats":[{"feature":"${'{['.repeat(100)}"${`,"x${'{'.repeat(2000)}":"\\"${'['.repeat(2000)}"`.repeat(100)}}]}`,
  ],
  ['100 000 hashes of a user', `{${head},"stats":[{"feature":"f","uniqueUserHashes":[${'1,'.repeat(100_000)}1]}]}`],
])('a report with %s is decoded', (_, json) => {
  expect(reportDecoders.usageJson(Buffer.from(json))).toMatchObject({ statCount: 1 });
});

test('a report of 50 000 entries of the minimum size is decoded', () => {
  const stats = Array.from({ length: 50_000 }, (_, n) => `{"feature":${n}}`);
  expect(reportDecoders.usageJson(Buffer.from(`{${head},"stats":[${stats}]}`))).toMatchObject({ statCount: 50_000 });
});
