/**
 * Builds the console (`src/console`) for the browser, with a chunk for each page. `chunks.ts` minifies, names and
 * compresses the files, so that the server only needs to send them.
 */
import { join } from 'node:path';
import type { BuildArtifact, BuildMetafile } from 'bun';
import type { BundledFile, ConsoleIndex, Span } from '../../src/console/host/pages.ts';
import { type Chunk, type CompressedFile, finish, sumSizes } from './chunks.ts';
import { notePackages } from './contents.ts';
import { buildDocs } from './docs.ts';
import { note } from './note.ts';

/** A row of `src/console/pages/routes.ts`. The original type of a row needs the type declarations of browsers. */
interface BuiltRoute {
  readonly page: string;
  readonly load: () => unknown;
}

/** Maximum gzipped size of all files that a page loads, so that the page opens fast even on a phone. */
const maxPageBytes = 100_000;

export interface BuiltConsole {
  readonly index: ConsoleIndex;
  readonly content: Buffer;
}

/**
 * @param inside set to which the directories of the bundled npm packages are added
 * @throws {Error} if the console does not compile, or a page is too large
 */
export async function buildConsole(root: string, inside: Set<string>): Promise<BuiltConsole> {
  const output = await Bun.build({
    metafile: true,
    entrypoints: [`${root}/src/console/main.tsx`],
    target: 'browser',
    splitting: true,
    // Identifiers are shortened later, by a better minifier.
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name].[ext]' },
    throw: false,
  });
  if (!output.success) throw new AggregateError(output.logs, output.logs.map(String).join('\n'));
  notePackages(output.metafile, inside);
  // The bundler lists files in an order that depends on the folder.
  const files = output.outputs.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const chunks = await finish([...files, ...(await buildDocsScripts(root))]);
  const metafile = output.metafile!;
  const named = (name: string) => chunks.get(name)!;
  const own = staticImports(metafile, './main.js');
  const { routes } = await import(join(root, 'src/console/pages/routes.ts'));
  const pages = (routes as readonly BuiltRoute[]).map((route) => {
    const all = new Set([...own, ...staticImports(metafile, findChunk(metafile, root, route))]);
    return [route.page, [...all].map(named)] as const;
  });
  const style = named('./main.css');
  report([...chunks.values()], style, pages);
  const docs = buildDocs(root, {
    style: style.file.name,
    theme: named('./theme.js').file.name,
    search: named('./search.js').file.name,
  });
  const content = new Content();
  const index = {
    docs: { pages: docs.pages.map(content.add), files: docs.files.map(content.add) },
    script: named('./main.js').file.name,
    style: style.file.name,
    pages: Object.fromEntries(pages.map(([page, of]) => [page, of.map(({ file }) => file.name)])),
    files: [...chunks.values()].map(({ file }) => content.add(file)),
  };
  return { index, content: content.bytes };
}

/** The bytes of all files in one sequence. */
class Content {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  readonly add = ({ gzip, brotli, ...file }: CompressedFile): BundledFile => ({
    ...file,
    gzip: this.#append(gzip),
    ...(brotli && { brotli: this.#append(brotli) }),
  });

  #append(bytes: Buffer): Span {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    return [this.#length - bytes.length, this.#length];
  }
}

/** Builds the scripts of the docs. The theme is not a module, because modules run only after the page is drawn. */
async function buildDocsScripts(root: string): Promise<readonly BuildArtifact[]> {
  const build = (name: string, format: 'iife' | 'esm') =>
    Bun.build({ entrypoints: [`${root}/src/console/docs/${name}.ts`], target: 'browser', format });
  const built = [await build('theme', 'iife'), await build('search', 'esm')];
  return built.flatMap(({ outputs }) => outputs);
}

/** Finds the chunk that a route loads. @throws {Error} if the route imports no file */
function findChunk({ outputs }: BuildMetafile, root: string, { page, load }: BuiltRoute): string {
  const [, file] = /import\(["'](.+?)["']\)/.exec(String(load)) ?? [];
  const path = join(root, 'src/console/pages', file ?? '');
  const found = Object.entries(outputs).find(
    ([, { entryPoint }]) => entryPoint !== undefined && join(process.cwd(), entryPoint) === path,
  );
  if (found === undefined) throw new Error(`The page "${page}" has no chunk: ${path} is imported elsewhere too`);
  return found[0];
}

/** Finds a file and the files that it imports statically. */
function staticImports({ outputs }: BuildMetafile, name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const { path, kind } of outputs[name]?.imports ?? [])
    if (kind === 'import-statement') staticImports({ outputs, inputs: {} }, path, found);
  return found;
}

/** Prints the sizes. @throws {Error} if a page is too large */
function report(
  all: readonly Chunk[],
  style: Chunk,
  pages: readonly (readonly [page: string, of: readonly Chunk[]])[],
): void {
  const kB = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
  note(`console: ${all.length} files, ${kB(sumSizes(all))} gzipped`);
  for (const chunk of all) note(`  ${kB(sumSizes([chunk])).padStart(9)} ${chunk.file.name}`);
  for (const [page, of] of pages) {
    const size = sumSizes([style, ...of]);
    note(`  ${kB(size).padStart(9)} page "${page}"`);
    if (size > maxPageBytes)
      throw new Error(`The page "${page}" loads ${kB(size)}, the maximum is ${kB(maxPageBytes)}`);
  }
}
