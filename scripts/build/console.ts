/**
 * Builds the console (`src/console`) for the browser. File names contain a hash of the content, and files are compressed here, so
 * that the server only sends bytes.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { BuildOutput, BunPlugin } from 'bun';
import { minifySync } from 'rolldown/utils';
import type { BundledFile, ConsoleBundle } from '../../src/console/host/files.ts';
import { notePackages } from './contents.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Maximum total size, gzipped, so that the console loads fast even on a phone. */
const maxGzipBytes = 200_000;

/** Parts of uPlot that the console does not use: its legend, logarithmic scales, scatter plots, curves, bars, and month names. */
const unusedInUplot: readonly (readonly [code: string | RegExp, replacement: string])[] = [
  ['const showLegend = legend.show;', 'const showLegend = false;'],
  [/\b(\w+\.)?distr (==|>=) [34]\b/g, 'false'],
  [/\bmode == 2\b/g, 'false'],
  [/\bmode == 1\b/g, 'true'],
  [/\(paths\.(stepped|bars|spline) += \w+\);/g, ''],
  // The chart formats the times on its axes itself.
  [/timeAxisVals\(_tzDate, timeAxisStamps\(.+, _fmtDate\)\)/g, 'undefined'],
  [/timeSeriesVal\(_tzDate, timeSeriesStamp\(\w+, _fmtDate\)\)/g, 'undefined'],
  ['timeAxisVal(_tzDate, av)', 'undefined'],
  ['(opts.fmtDate || fmtDate)', 'undefined'],
  [/^\t\t_timeAxisStamps,$/m, 'undefined,'],
  [/uPlot\.(join|rangeLog|rangeAsinh|fmtDate) = \w+;/g, ''],
];

/** uPlot is a single module, so no part is tree-shaken. Without these it is a fifth smaller. */
const trimUplot: BunPlugin = {
  name: 'trim uPlot',
  setup(build) {
    build.onLoad({ filter: /uPlot\.esm\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8');
      for (const [code, replacement] of unusedInUplot) {
        const trimmed = contents.replace(code, replacement);
        if (trimmed === contents) throw new Error(`uPlot has changed: ${code} not found`);
        contents = trimmed;
      }
      return { contents, loader: 'js' };
    });
  },
};

/**
 * @param inside receives the directories of the bundled npm packages
 * @throws {Error} if it does not compile or is too large
 */
export async function buildConsole(root: string, inside: Set<string>): Promise<ConsoleBundle> {
  const output = await Bun.build({
    metafile: true,
    entrypoints: [`${root}/src/console/main.tsx`],
    target: 'browser',
    // Names are shortened later, by a better minifier.
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: '[name].[ext]',
    plugins: [trimUplot],
    throw: false,
  });
  if (!output.success) throw new AggregateError(output.logs, output.logs.map(String).join('\n'));
  notePackages(output.metafile, inside);
  const files = await Promise.all(output.outputs.map(compress));
  const size = files.reduce((sum, { gzip }) => sum + Buffer.from(gzip, 'base64').length, 0);
  console.error(`console: ${files.length} files, ${(size / 1000).toFixed(1)} kB gzipped`);
  if (size > maxGzipBytes) {
    throw new Error(`The console is too large: ${size} bytes gzipped, the maximum is ${maxGzipBytes}`);
  }
  return { script: nameOf(files, '.js'), style: nameOf(files, '.css'), files };
}

async function compress(output: BuildOutput['outputs'][number]): Promise<BundledFile> {
  const ending = extname(output.path);
  const text = await output.text();
  const bytes = Buffer.from(ending === '.js' ? minified(text) : text);
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 12);
  const name = `${basename(output.path, ending)}-${hash}${ending}`;
  const type = mediaTypes[ending];
  if (type === undefined) throw new Error(`Cannot serve ${output.path}: unknown media type`);
  return {
    name,
    type,
    gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
    brotli: brotliCompressSync(bytes).toString('base64'),
  };
}

/** @throws {Error} if it is not a script */
function minified(script: string): string {
  const options = { module: true, compress: { target: 'es2022' }, mangle: { toplevel: true } } as const;
  const { code, errors } = minifySync('main.js', script, options);
  if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join('\n'));
  return code;
}

function nameOf(files: readonly BundledFile[], ending: string): string {
  const file = files.find(({ name }) => name.endsWith(ending));
  if (file === undefined) throw new Error(`The console has no ${ending} file`);
  return file.name;
}
