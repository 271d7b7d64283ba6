/**
 * Builds the released files: the executable `dist/flagmeter`, the service for Node in `dist/node/`, and the OpenFeature
 * package in `clients/openfeature/dist`. Bun compiles the executable, which contains the workers, the console and the
 * LMDB add-on. Usage: `bun build.ts [--target linux-arm64] [--quiet]`.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BunPlugin } from 'bun';
import { closest } from 'fastest-levenshtein';
import { buildConsole } from './scripts/build/console.ts';
import { checkCompiledCode, modulesByFile, notePackages } from './scripts/build/contents.ts';
import { buildLmdb } from './scripts/build/lmdb.ts';
import { note } from './scripts/build/note.ts';
import { buildOpenFeature } from './scripts/build/openfeature.ts';
import { findRuntime } from './scripts/build/runtime.ts';
import { buildSnippet } from './scripts/build/snippet.ts';

const root = import.meta.dir;

/** The program, and the threads that it starts. */
const entrypoints = [
  'src/main.ts',
  'src/accounts/password-worker.ts',
  'src/serve/front/front-worker.ts',
  'src/storage/backup/worker.ts',
  'src/replication/spool-worker.ts',
  'src/storage/commit/journal-worker.ts',
  'src/storage/commit/fold-worker.ts',
  'src/replication/replica-worker.ts',
  'src/reports/report-worker.ts',
  'src/ingest/formats/decode-worker.ts',
  'src/bench/load/generator-thread.ts',
];

/** Folder of embedded files in the compiled executable. */
const embedded = '/$bunfs/root/';

interface Platform {
  readonly bun: Bun.Build.CompileTarget;
  /** npm package that holds the platform's Bun. */
  readonly runtime: string;
}

const platforms: Readonly<Record<string, Platform>> = {
  'linux-x64': { bun: 'bun-linux-x64', runtime: '@oven/bun-linux-x64' },
  'linux-arm64': { bun: 'bun-linux-arm64', runtime: '@oven/bun-linux-aarch64' },
  'darwin-x64': { bun: 'bun-darwin-x64', runtime: '@oven/bun-darwin-x64' },
  'darwin-arm64': { bun: 'bun-darwin-arm64', runtime: '@oven/bun-darwin-aarch64' },
};

const here = `${process.platform}-${process.arch}`;

/** @throws {Error} for an unknown option or platform */
function readTarget(args: string[]): string {
  const options = { target: { type: 'string' }, quiet: { type: 'boolean' } } as const;
  const { target = here } = parseArgs({ args, options }).values;
  if (platforms[target] !== undefined || target === here) return target;
  const known = Object.keys(platforms);
  throw new Error(`Cannot build for ${target}: did you mean ${closest(target, known)}? Known: ${known.join(', ')}`);
}

/**
 * Files that are read on first use. In a module, they would take memory as text, and the same memory again as bytecode.
 */
const files = ['dist/console.bin', 'src/accounts/common-passwords.br'];

/** Code for browsers, encoded as JSON. The build replaces each of these names in the program with the code. */
interface ForBrowsers {
  readonly FLAGMETER_CONSOLE: string;
  readonly FLAGMETER_SNIPPET: string;
}

async function buildForBrowsers(inside: Set<string>): Promise<ForBrowsers> {
  const { index, content } = await buildConsole(root, inside);
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/console.bin', content);
  return {
    FLAGMETER_CONSOLE: JSON.stringify(index),
    FLAGMETER_SNIPPET: JSON.stringify(await buildSnippet(root, inside)),
  };
}

/** @returns the folders of the npm packages in the executable */
async function buildExecutable(
  target: string,
  outfile: string,
  addon: string,
  forBrowsers: ForBrowsers,
): Promise<ReadonlySet<string>> {
  const platform = platforms[target];
  if (platform === undefined) throw new Error(`Cannot build on ${here}: it is not a known platform`);
  const { metafile } = await build({
    metafile: true,
    entrypoints: [...entrypoints, 'node_modules/piscina/dist/worker.js', ...files],
    loader: { '.bin': 'file', '.br': 'file' },
    naming: { asset: '[name].[ext]' },
    target: 'bun',
    minify: { whitespace: true, syntax: true },
    // Bytecode for this platform avoids parsing the code at each startup. For another platform, bytecode might not fit,
    // and would only take space.
    format: 'esm',
    // In a single file, each startup would load every import, such as `node:http`, for any command.
    splitting: true,
    bytecode: target === here,
    external: ['uWebSockets.js'],
    define: {
      FLAGMETER_WORKERS: JSON.stringify(`${embedded}src/`),
      FLAGMETER_FILES: JSON.stringify(embedded),
      // These values replace the paths of dependencies, which would make two builds of one commit differ.
      __dirname: JSON.stringify(embedded),
      __filename: JSON.stringify(`${embedded}module.js`),
      ...forBrowsers,
    },
    plugins: [embedAddon(addon), embedPiscinaWorker, keepKeyDecoder, leaveOut],
    compile: {
      target: platform.bun,
      outfile,
      ...(target === here ? {} : { executablePath: findRuntime(platform.runtime) }),
      // The executable reads only its options, its environment and its --config file.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
  checkPaths(outfile);
  note(`${outfile} (${(statSync(outfile).size / 1e6).toFixed(0)} MB)`);
  // The bundler's list of modules omits compiled C.
  const inside = new Set(['node_modules/lmdb']);
  notePackages(metafile, inside);
  checkCompiledCode(metafile);
  writeFileSync(`${outfile}.modules.json`, JSON.stringify(modulesByFile(metafile)));
  return inside;
}

/**
 * @throws {Error} if the executable contains the path of its source tree, because builds in other folders would then
 * differ
 */
function checkPaths(outfile: string): void {
  const bytes = readFileSync(outfile);
  const path = ['node_modules', 'src', 'dist']
    .map((name) => join(root, name, '/'))
    .find((path) => bytes.includes(path));
  if (path !== undefined) throw new Error(`${outfile} contains the path ${path}, so that builds elsewhere differ`);
}

async function buildForNode(forBrowsers: ForBrowsers): Promise<void> {
  rmSync('dist/node', { recursive: true, force: true });
  mkdirSync('dist/node', { recursive: true });
  await build({
    entrypoints: [...entrypoints],
    target: 'node',
    packages: 'external',
    splitting: true,
    outdir: 'dist/node',
    naming: '[dir]/[name].[ext]',
    root: 'src',
    sourcemap: 'linked',
    define: { ...forBrowsers },
  });
  for (const file of files) copyFileSync(file, join('dist/node', basename(file)));
  note('dist/node/ (node dist/node/main.js)');
}

async function build(config: Bun.BuildConfig): Promise<Bun.BuildOutput> {
  process.chdir(root);
  const result = await Bun.build({ ...config, throw: false });
  if (!result.success) throw new AggregateError(result.logs, result.logs.map(String).join('\n'));
  return result;
}

/**
 * lmdb looks up its add-on on the disk at run time. In the executable, this add-on is a file of the bundle. msgpackr
 * looks up its own add-on in the same way, and works without it. msgpackr must not get lmdb's add-on.
 */
function embedAddon(addon: string): BunPlugin {
  return {
    name: 'embed-lmdb-addon',
    setup(build) {
      build.onResolve({ filter: /^node-gyp-build-optional-packages$/ }, ({ importer }) => ({
        path: importer.includes('/msgpackr-extract/') ? 'none' : 'addon',
        namespace: 'lmdb',
      }));
      build.onLoad({ filter: /.*/, namespace: 'lmdb' }, ({ path }) => ({
        contents:
          path === 'none'
            ? 'module.exports = () => { throw new Error("msgpackr has no add-on here"); };'
            : `module.exports = () => require(${JSON.stringify(addon)});`,
        loader: 'js',
      }));
    },
  };
}

/** Piscina starts `worker.js` from the folder of its own module. In the executable, `worker.js` is an entry point. */
const embedPiscinaWorker: BunPlugin = {
  name: 'embed-piscina-worker',
  setup(build) {
    build.onLoad({ filter: /piscina\/dist\/index\.js$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const lookup = "(0, node_path_1.resolve)(__dirname, 'worker.js')";
      if (!source.includes(lookup)) throw new Error(`${path} does not start its worker as expected any more`);
      const worker = JSON.stringify(`${embedded}node_modules/piscina/dist/worker.js`);
      return { contents: source.replace(lookup, worker), loader: 'js' };
    });
  },
};

/**
 * On Bun, ordered-binary compiles its decoder of string keys at run time, partly from the text of the function
 * `finishUtf8`. The bundler renames variables in this function, but not in the code that declares them. The decoder
 * therefore gets the text of the function in the source.
 */
const keepKeyDecoder: BunPlugin = {
  name: 'keep-key-decoder',
  setup(build) {
    build.onLoad({ filter: /ordered-binary\/index\.js$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const [decoder] = /^function finishUtf8\(.*?^\}/ms.exec(source) ?? [];
      const text = 'finishUtf8.toString()';
      if (decoder === undefined || source.split(text).length !== 2)
        throw new Error(`${path} does not compile its decoder as expected any more`);
      return { contents: source.replace(text, () => JSON.stringify(decoder)), loader: 'js' };
    });
  },
};

/**
 * Packages that are never needed. Piscina loads `nice`, an add-on, to change the priority of its threads, and continues
 * without it. grpc-js loads `proto-loader` for its own services, channelz and ORCA, which only servers offer.
 */
const leaveOut: BunPlugin = {
  name: 'leave-out',
  setup(build) {
    build.onResolve({ filter: /^(@napi-rs\/nice|@grpc\/proto-loader)$/ }, ({ path }) => ({
      path,
      namespace: 'left-out',
    }));
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: 'throw new Error("it is left out of the executable");',
      loader: 'js',
    }));
  },
};

try {
  const target = readTarget(process.argv.slice(2));
  const outfile = target === here ? 'dist/flagmeter' : `dist/flagmeter-${target}`;
  process.stderr.write(`Building ${outfile} …\n`);
  // The add-on comes first: if tools are missing, the build fails before it does anything else.
  const addon = await buildLmdb(target);
  const forPages = new Set<string>();
  const forBrowsers = await buildForBrowsers(forPages);
  const inside = await buildExecutable(target, outfile, addon, forBrowsers);
  writeFileSync(`${outfile}.packages.json`, `${JSON.stringify([...new Set([...inside, ...forPages])].sort())}\n`);
  if (target === here) {
    writeFileSync('dist/console.json', forBrowsers.FLAGMETER_CONSOLE);
    writeFileSync('dist/snippet.json', forBrowsers.FLAGMETER_SNIPPET);
    await buildOpenFeature(root);
    await buildForNode(forBrowsers);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
