/**
 * Builds the console (`src/console`) for the browser. Its files get names with a hash of their content, and are compressed here,
 * so that the server only sends bytes.
 */
import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { BuildOutput } from 'bun';
import type { BundledFile, ConsoleBundle } from './src/console-host/bundle.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Everything together must stay below this, gzipped: the console is there at once, also on a phone. */
const maxGzipBytes = 90_000;

/** @throws {Error} when it does not compile, or has become too large */
export async function buildConsole(root: string): Promise<ConsoleBundle> {
  const output = await Bun.build({
    entrypoints: [`${root}/src/console/main.tsx`],
    target: 'browser',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: '[name].[ext]',
    throw: false,
  });
  if (!output.success) throw new AggregateError(output.logs, output.logs.map(String).join('\n'));
  const files = await Promise.all(output.outputs.map(compress));
  const size = files.reduce((sum, { gzip }) => sum + Buffer.from(gzip, 'base64').length, 0);
  console.error(`console: ${files.length} files, ${(size / 1000).toFixed(1)} kB gzipped`);
  if (size > maxGzipBytes) {
    throw new Error(
      `The console has become too large: ${size} bytes gzipped, and it may have ${maxGzipBytes}`,
    );
  }
  return { script: nameOf(files, '.js'), style: nameOf(files, '.css'), files };
}

async function compress(output: BuildOutput['outputs'][number]): Promise<BundledFile> {
  const bytes = Buffer.from(await output.arrayBuffer());
  const ending = extname(output.path);
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 12);
  const name = `${basename(output.path, ending)}-${hash}${ending}`;
  const type = mediaTypes[ending];
  if (type === undefined) throw new Error(`Cannot serve ${output.path}: its media type is not known`);
  return {
    name,
    type,
    gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
    brotli: brotliCompressSync(bytes).toString('base64'),
  };
}

function nameOf(files: readonly BundledFile[], ending: string): string {
  const file = files.find(({ name }) => name.endsWith(ending));
  if (file === undefined) throw new Error(`The console has no ${ending} file`);
  return file.name;
}
