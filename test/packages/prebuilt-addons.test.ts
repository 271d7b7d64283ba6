import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type PrebuiltRecord, prebuiltAddon, prebuiltRecord } from '../../scripts/build/lmdb.ts';
import { compileLmdb, compilersFor, readVersions } from '../../scripts/build/lmdb-compiler.ts';
import { sha256Of } from '../../scripts/release/checksums.ts';
import { freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';

/** Returns the reason why add-ons compiled here would differ; `undefined` if the compilers are the same or missing. */
function whyOtherBytes(target: string): string | undefined {
  const { compiler }: PrebuiltRecord = JSON.parse(readFileSync(prebuiltRecord(target), 'utf8'));
  const present = readVersions(compilersFor(target));
  return present === undefined || present === compiler
    ? undefined
    : `native/prebuilt/${target}.node was compiled by ${compiler}; this machine has ${present}`;
}

for (const [target, compiler] of [
  ['linux-x64', 'g++'],
  ['linux-arm64', 'g++-aarch64-linux-gnu'],
] as const) {
  const why = whyOtherBytes(target);
  needing(compiler, 'patch', { why }).test(
    `the prebuilt add-on of ${target} has the bytes that its sources compile to`,
    { timeout: 600_000 },
    async () => {
      const folder = freshDirectory();
      const addon = join(folder, 'lmdb.node');
      await compileLmdb(folder, addon, compilersFor(target), 'a test compares it');
      expect(sha256Of(addon), 'update it with npx bun scripts/prebuilt-addons.ts').toBe(
        sha256Of(prebuiltAddon(target)),
      );
    },
  );
}
