import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import {
  BlockChain,
  blockKind,
  encodeHead,
  headBytes,
  magic,
  pagesHeadBytes,
} from '../../../src/storage/backup/format.ts';
import { restore } from '../../../src/storage/backup/restore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { backUp, filledDirectory, restless, steady } from './data-directory.ts';

interface Block {
  kind: number;
  content: Buffer;
}

let whole: Buffer;
/** The restored files, by store. */
let restored: Readonly<Record<string, Buffer>>;

beforeEach(async () => {
  const data = filledDirectory();
  const file = join(dirname(data), 'backup');
  await backUp(data, file);
  whole = readFileSync(file);
  const target = freshTarget();
  await restore(file, target, steady);
  restored = filesIn(target);
});

function freshTarget(): string {
  const data = join(temporaryDirectory(), 'data');
  mkdirSync(data);
  return data;
}

const stores = ['accounts', 'usage'];

function filesIn(data: string): Readonly<Record<string, Buffer>> {
  return Object.fromEntries(stores.map((store) => [store, readFileSync(join(data, store, 'data.mdb'))]));
}

function readBlocks(backup: Buffer): Block[] {
  const blocks: Block[] = [];
  for (let at = magic.length; at < backup.length; ) {
    const length = backup.readUInt32LE(at + 4);
    const content = Buffer.from(backup.subarray(at + headBytes, at + headBytes + length));
    blocks.push({ kind: backup[at]!, content });
    at += headBytes + length + 32;
  }
  return blocks;
}

/** Creates a backup of these blocks with matching digests. */
function rehashed(blocks: readonly Block[]): Buffer {
  const chain = new BlockChain();
  const chunks = blocks.flatMap(({ kind, content }) => {
    const head = encodeHead(kind, content.length);
    return [head, content, chain.digest([head, content])];
  });
  return Buffer.concat([magic, ...chunks]);
}

/** Restores a backup. @returns the largest file size during the restore, and the reason if the backup was refused */
async function attempt(backup: Buffer) {
  const target = freshTarget();
  const file = join(dirname(target), 'altered');
  writeFileSync(file, backup);
  let largest = 0;
  const watched = restless(() => {
    const names = readdirSync(target, { recursive: true, encoding: 'utf8' });
    const sizes = names.map((name) => statSync(join(target, name)).size);
    largest = Math.max(largest, ...sizes);
    return false;
  });
  const refused = await restore(file, target, watched).then(
    () => undefined,
    (error: Error) => error,
  );
  return { target, refused, largest };
}

async function expectRefusedOrSame(backup: Buffer): Promise<void> {
  const { target, refused, largest } = await attempt(backup);
  expect(largest).toBeLessThanOrEqual(2 ** 27);
  if (refused === undefined) {
    for (const [store, bytes] of Object.entries(filesIn(target)))
      expect(bytes.equals(restored[store]!), store).toBe(true);
    return;
  }
  expect(refused.message).toMatch(/^Cannot use .*altered: /);
  expect(readdirSync(target)).toEqual([]);
}

const numbers = fc.oneof(
  fc.constantFrom(0, 1, 2, 3, -1, -2, 0.5, Number.NaN, Number.POSITIVE_INFINITY),
  fc.constantFrom(2 ** 16, 2 ** 31, 2 ** 32 - 1, 2 ** 40, 2 ** 53, 1e18, 1e300),
  fc.integer({ min: -10, max: 2000 }),
  fc.double(),
);

const seed = 20_261_122;

test('a description with a changed number and correct hashes is refused, or restores the same data', async () => {
  const fields = ['format', 'store', 'layout', 'pageSize', 'lastPage', 'pages'] as const;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...fields), fc.nat(1), numbers, async (field, store, number) => {
      const blocks = readBlocks(whole);
      const description = JSON.parse(blocks[0]!.content.toString());
      if (field === 'format') description.format = number;
      else description.stores[store][field] = number;
      blocks[0]!.content = Buffer.from(JSON.stringify(description));
      await expectRefusedOrSame(rehashed(blocks));
    }),
    { numRuns: 60, seed },
  );
});

test('a block with a changed store or first page and correct hashes is refused or restores the same data', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.boolean(), numbers, async (at, isStore, number) => {
      const blocks = readBlocks(whole);
      const pages = blocks.filter(({ kind }) => kind === blockKind.pages);
      const { content } = pages[at % pages.length]!;
      if (isStore) content.writeUInt32LE(Number.isFinite(number) ? (Math.abs(number) % 2 ** 32) >>> 0 : 0);
      else content.writeDoubleLE(number, 4);
      await expectRefusedOrSame(rehashed(blocks));
    }),
    { numRuns: 60, seed },
  );
});

test('a backup with a changed block kind, block length or last block and correct hashes is refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(255), fc.nat(40), numbers, async (at, kind, length, number) => {
      const blocks = readBlocks(whole);
      const block = blocks[at % blocks.length]!;
      const change = [
        () => (block.kind = kind),
        () => (block.content = block.content.subarray(0, length)),
        () => (blocks.at(-1)!.content = Buffer.from(JSON.stringify({ pages: number }))),
      ][at % 3]!;
      change();
      await expectRefusedOrSame(rehashed(blocks));
    }),
    { numRuns: 60, seed },
  );
});

/** Offset and number of bytes of each integer of a meta page. */
const metaIntegers = [
  ...[16, 20, 40].map((at) => [at, 4] as const),
  ...[80, 128, 136, 144].map((at) => [at, 8] as const),
];

test('a meta page with a changed integer and correct hashes is refused, or restores the same data', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...stores.keys()),
      fc.nat(1),
      fc.constantFrom(...metaIntegers),
      fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 2000n })),
      async (store, page, [at, bytes], number) => {
        const blocks = readBlocks(whole);
        const { content } = blocks.find(
          (block) =>
            block.kind === blockKind.pages &&
            block.content.readUInt32LE() === store &&
            block.content.readDoubleLE(4) === 0,
        )!;
        const place = pagesHeadBytes + page * 4096 + at;
        if (bytes === 8) content.writeBigUInt64LE(number, place);
        else content.writeUInt32LE(Number(number % 2n ** 32n), place);
        const { target, refused, largest } = await attempt(rehashed(blocks));
        expect(largest).toBeLessThanOrEqual(2 ** 27);
        if (refused !== undefined) expect(refused.message).toMatch(/^Cannot use .*altered: /);
        else
          for (const [name, file] of Object.entries(filesIn(target)))
            expect(file.subarray(8192).equals(restored[name]!.subarray(8192))).toBe(true);
      },
    ),
    { numRuns: 80, seed },
  );
});

/** Offsets of the integers in the head of a page, and in its first nodes. */
const pageIntegers = [0, 2, 4, 8, 10, 12, 14, 16, 18, 20, 22];

test('a page with a changed integer and correct hashes creates no large file and no unexpected error', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.nat(),
      fc.constantFrom(...pageIntegers),
      fc.nat(2 ** 16 - 1),
      async (at, nth, offset, number) => {
        const blocks = readBlocks(whole);
        const pages = blocks.filter(({ kind }) => kind === blockKind.pages);
        const { content } = pages[at % pages.length]!;
        const page = nth % Math.floor((content.length - pagesHeadBytes) / 4096);
        content.writeUInt16LE(number, pagesHeadBytes + page * 4096 + offset);
        const { refused, largest } = await attempt(rehashed(blocks));
        expect(largest).toBeLessThanOrEqual(2 ** 27);
        if (refused !== undefined) expect(refused.message).toMatch(/^Cannot use .*altered: /);
      },
    ),
    { numRuns: 80, seed },
  );
});

test('a backup whose description has terminal control characters is refused', async () => {
  for (const [field, text] of [
    ['program', '\u001b[2J'],
    ['at', 'yesterday'],
  ] as const) {
    const blocks = readBlocks(whole);
    const description = { ...JSON.parse(blocks[0]!.content.toString()), [field]: text };
    blocks[0]!.content = Buffer.from(JSON.stringify(description));
    expect((await attempt(rehashed(blocks))).refused?.message).toContain('its description');
  }
});
