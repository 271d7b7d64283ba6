import { lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FileWriter, writeFileWhole } from '../../../src/storage/backup/write-file.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const chunkBytes = 64 * 1024;

/** Memory that is aligned for direct writes, and memory that is not aligned. */
const chunks = {
  aligned: () => Buffer.from(new WebAssembly.Memory({ initial: 1 }).buffer),
  unaligned: () => Buffer.alloc(chunkBytes + 1).subarray(1),
};

const sizes = fc.array(
  fc.oneof(fc.nat(3 * chunkBytes), fc.constantFrom(0, 1, 4096, chunkBytes - 1, chunkBytes, chunkBytes + 1)),
);

test.each(['aligned', 'unaligned'] as const)('a file contains the bytes that were written from %s memory', (memory) => {
  const directory = temporaryDirectory();
  let files = 0;
  fc.assert(
    fc.property(sizes, (lengths) => {
      files += 1;
      const path = join(directory, `${files}`);
      const content = lengths.map((length, at) => Buffer.alloc(length, at + 1));
      const writer = new FileWriter(path, chunks[memory]());
      for (let at = 0; at < content.length; at += 2) writer.write(content.slice(at, at + 2));
      writer.end();
      writer.close();
      expect(readFileSync(path).equals(Buffer.concat(content))).toBe(true);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }),
    { numRuns: 50 },
  );
});

test('a file writer does not overwrite an existing file', () => {
  const path = join(temporaryDirectory(), 'file');
  new FileWriter(path).close();
  expect(() => new FileWriter(path)).toThrow('EEXIST');
});

test('a backup does not replace a link, a pipe or a device', async () => {
  const path = join(temporaryDirectory(), 'link');
  symlinkSync('/dev/full', path);
  await expect(writeFileWhole(path, async () => {})).rejects.toThrow(
    /^Cannot write .*link: it is not a regular file; /,
  );
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
});
