import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { maxFileBytes, newCounts, sourceFiles } from '../../../src/cli/scan/source-files.ts';
import { needing } from '../../support/needing.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const files = {
  '.gitignore': 'node_modules/\n*.log\n!keep.log\n/only-here.txt\nbuild/**/out\n# a comment\nspaced\\ \n',
  'src/main.ts': 'a',
  'src/only-here.txt': 'a',
  'only-here.txt': 'a',
  'src/.gitignore': '/generated\n!again.log\n',
  'src/generated/x.ts': 'a',
  'src/deep/generated/x.ts': 'a',
  'src/deep/.gitignore': '*\n!.gitignore\n!kept.ts\n',
  'src/deep/kept.ts': 'a',
  'src/deep/lost.ts': 'a',
  'src/error.log': 'a',
  'src/again.log': 'a',
  'keep.log': 'a',
  'node_modules/package/index.js': 'a',
  'src/node_modules/package/index.js': 'a',
  'build/a/b/out/file.ts': 'a',
  'build/a/b/in/file.ts': 'a',
  'spaced ': 'a',
  'name with spaces.ts': 'a',
};

function read(directory: string) {
  const counts = newCounts();
  return { paths: Array.from(sourceFiles(directory, counts), ({ path }) => path).sort(), counts };
}

function repository(contents: Readonly<Record<string, string | Buffer>>): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, '.git'));
  for (const [path, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  return directory;
}

needing('git').test('sourceFiles reads the files that git does not ignore', () => {
  const directory = repository(files);
  execFileSync('git', ['init', '-q', directory]);
  const args = ['-C', directory, 'ls-files', '-z', '--others', '--exclude-standard'];
  const taken = execFileSync('git', args).toString().split('\0').slice(0, -1);
  expect(taken).toContain('src/deep/kept.ts');
  expect(taken).not.toContain('src/generated/x.ts');
  expect(read(directory).paths).toEqual(taken.sort());
  const within = taken.filter((path) => path.startsWith('src/')).map((path) => path.slice(4));
  expect(read(join(directory, 'src')).paths).toEqual(within);
});

test('sourceFiles skips and counts binary and large files, and does not follow links', () => {
  const directory = repository({
    'image.bin': Buffer.from([1, 2, 0, 3]),
    'large.ts': 'a'.repeat(maxFileBytes + 1),
    'fits.ts': 'a'.repeat(maxFileBytes),
    'empty.ts': '',
  });
  symlinkSync('/', join(directory, 'everything'));
  symlinkSync('fits.ts', join(directory, 'link.ts'));
  execFileSync('mkfifo', [join(directory, 'pipe.ts')]);
  const { paths, counts } = read(directory);
  expect(paths).toEqual(['empty.ts', 'fits.ts']);
  expect(counts).toEqual({ ...newCounts(), files: 2, bytes: maxFileBytes, binary: 1, large: 1 });
});

test('sourceFiles outside a repository applies only the ignore file in the scanned directory', () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, '.gitignore'), '*.log\n');
  writeFileSync(join(directory, 'a.log'), 'a');
  writeFileSync(join(directory, 'a.ts'), 'a');
  expect(read(directory).paths).toEqual(['.gitignore', 'a.ts']);
});

test('sourceFiles reads text that is not UTF-8', () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'old.php'), Buffer.from("// Größe\nisEnabled('checkout')", 'latin1'));
  const counts = newCounts();
  const [file] = sourceFiles(directory, counts);
  expect(file?.text).toContain("isEnabled('checkout')");
});

test.each([
  ['src', '.', ['src/app/main.ts']],
  ['.', '.', ['src/app/main.ts']],
  ['..', 'src/app', ['app/main.ts']],
  ['app', 'src', ['app/main.ts']],
  ['../src', 'src', ['app/main.ts']],
])('sourceFiles for %s in the directory %s returns the paths a caller expects', (operand, from, expected) => {
  const directory = repository({ 'src/app/main.ts': 'a' });
  const counts = newCounts();
  const files = sourceFiles(operand, counts, join(directory, from));
  expect(Array.from(files, ({ path }) => path)).toEqual(expected);
});

test.each<[string, (path: string) => void]>([
  ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ['a link to a file', (path) => symlinkSync('rules', path)],
  ['a FIFO', (path) => execFileSync('mkfifo', [path])],
  ['a directory', (path) => mkdirSync(path)],
  ['a file above the size limit', (path) => writeFileSync(path, '#'.repeat(maxFileBytes + 1))],
])('sourceFiles skips and counts an ignore file that is %s', (_, make) => {
  const directory = repository({ 'src/main.ts': 'a', 'src/rules': '*' });
  make(join(directory, 'src/.gitignore'));
  const { paths, counts } = read(directory);
  expect(paths).toContain('src/main.ts');
  expect(counts).toMatchObject({ ignoreFiles: 1, unreadable: 0 });
  expect(read(join(directory, 'src')).counts).toMatchObject({ ignoreFiles: 1 });
});

test('sourceFiles counts an ignore file as skipped if it is a symbolic link above the scanned directory', () => {
  const directory = repository({ 'src/main.ts': 'a' });
  symlinkSync('/dev/zero', join(directory, '.gitignore'));
  expect(read(join(directory, 'src'))).toMatchObject({ paths: ['main.ts'], counts: { ignoreFiles: 1 } });
});

test('sourceFiles outside a repository skips dependencies, but reads own code in a vendor directory', () => {
  const directory = repository({
    'main.ts': 'a',
    'node_modules/package/index.js': 'a',
    'web/node_modules/package/index.js': 'a',
    'service/go.mod': 'a',
    'service/vendor/module/code.go': 'a',
    'shop/vendor/invoice.ts': 'a',
    '.gitignore': '/web/out/\n',
    'web/out/main.js': 'a',
  });
  rmSync(join(directory, '.git'), { recursive: true });
  const { paths, counts } = read(directory);
  expect(paths).toEqual(['.gitignore', 'main.ts', 'service/go.mod', 'shop/vendor/invoice.ts']);
  expect(counts.dependencies).toBe(3);
});
