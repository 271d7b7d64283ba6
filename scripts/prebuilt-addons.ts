/**
 * Compiles LMDB's add-on for the platforms of `native/prebuilt`: `npx bun scripts/prebuilt-addons.ts`. The existing
 * add-ons were compiled on Debian 12 on x64, with the compilers of `apt-get install g++ g++-aarch64-linux-gnu patch`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prebuiltAddon, prebuiltRecord, prebuiltTargets } from './build/lmdb.ts';
import { compileLmdb, compilersFor, readVersions } from './build/lmdb-compiler.ts';
import { digestInputs } from './build/lmdb-sources.ts';

const folder = mkdtempSync(join(tmpdir(), 'flagmeter-addon-'));
try {
  for (const target of prebuiltTargets) {
    const compilers = compilersFor(target);
    await compileLmdb(join(folder, target), prebuiltAddon(target), compilers, 'native/prebuilt is updated');
    const record = { inputs: digestInputs(), compiler: readVersions(compilers) };
    writeFileSync(prebuiltRecord(target), `${JSON.stringify(record, undefined, 2)}\n`);
    console.error(prebuiltAddon(target));
  }
} finally {
  rmSync(folder, { recursive: true });
}
