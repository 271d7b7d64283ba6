import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { resolve } from 'node:path';
import { expect } from 'vitest';
import { binaryPath, freshDirectory, requireBinary } from '../support/binary.ts';
import { needing } from '../support/needing.ts';

const root = resolve(import.meta.dirname, '../..');
const linux = platform() === 'linux';

/** Returns the glibc versions that a file requires, as numbers such as 234 for 2.34. */
function glibcVersions(file: string): number[] {
  const symbols = execFileSync('objdump', ['-T', file], { encoding: 'utf8', maxBuffer: 64 << 20 });
  return [...symbols.matchAll(/\bGLIBC_2\.(\d+)/g)].map(([, minor]) => 200 + Number(minor));
}

const throwing = `
#include <cstdio>
#include <stdexcept>
#include <thread>
static void fail(int depth) { if (depth == 0) throw std::runtime_error("caught"); fail(depth - 1); }
static void attempt() { try { fail(40); } catch (const std::exception &error) { puts(error.what()); } }
int main() { std::thread other(attempt); other.join(); attempt(); }
`;

const { describe, test } = needing('binutils');

describe.runIf(linux)('the executable on a machine with glibc 2.34', () => {
  test.each([
    ['dist/flagmeter', requireBinary(binaryPath)],
    ['the LMDB add-on', resolve(root, `dist/lmdb/${platform()}-${arch()}/lmdb.node`)],
  ])('%s requires glibc 2.34 or an earlier version', (_, file) => {
    const versions = glibcVersions(file);
    expect(versions.length).toBeGreaterThan(0);
    expect(Math.max(...versions)).toBeLessThanOrEqual(234);
  });

  needing('g++').test('C++ exceptions are caught without the glibc 2.35 function _dl_find_object', () => {
    const directory = freshDirectory();
    writeFileSync(`${directory}/throwing.cpp`, throwing);
    execFileSync('gcc', ['-c', `${root}/native/glibc-2.34.c`, '-o', `${directory}/glibc.o`]);
    const program = `${directory}/throwing`;
    const inputs = [`${directory}/throwing.cpp`, `${directory}/glibc.o`, '-o', program];
    execFileSync('g++', [...inputs, '-static-libstdc++', '-static-libgcc', '-ffunction-sections', '-Wl,--gc-sections']);
    expect(execFileSync(program, { encoding: 'utf8' })).toBe('caught\ncaught\n');
    expect(execFileSync('objdump', ['-T', program], { encoding: 'utf8' })).not.toContain('_dl_find_object');
  });
});

test.runIf(linux)('the LMDB add-on does not import fprintf, so it cannot print into the log', () => {
  const addon = resolve(root, `dist/lmdb/${platform()}-${arch()}/lmdb.node`);
  const asked = execFileSync('objdump', ['-T', addon], { encoding: 'utf8', maxBuffer: 64 << 20 });
  expect(asked).toContain('napi_');
  expect(asked).not.toMatch(/\b(?:__)?v?fprintf(?:_chk)?\b/);
});
