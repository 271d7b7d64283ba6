import { existsSync, readFileSync } from 'node:fs';

/**
 * Records the npm packages in a bundle, because their notices must be shipped with it.
 * @param inside set of directories such as `node_modules/lmdb`, to which the directories in the bundle are added
 */
export function notePackages(metafile: Bun.BuildMetafile | undefined, inside: Set<string>): void {
  if (metafile === undefined) throw new Error('The bundler did not return a metafile');
  for (const path of Object.keys(metafile.inputs)) {
    const [folder] = /^.*\bnode_modules\/(@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (folder !== undefined) inside.add(folder.slice(folder.indexOf('node_modules/')));
  }
}

/** Lists the modules in each file of a bundle, with their sizes. Tests use the list to check what a command loads. */
export function modulesByFile(
  metafile: Bun.BuildMetafile | undefined,
): Readonly<Record<string, Readonly<Record<string, number>>>> {
  const files = Object.entries(metafile?.outputs ?? {}).map(([name, { inputs }]) => [
    name.replace(/^\.\//, ''),
    Object.fromEntries(Object.entries(inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput])),
  ]);
  return Object.fromEntries(files);
}

/** Modules that may compile code at run time. Their code refers only to its own names and to globals. */
const compilers = [
  'msgpackr/struct.js',
  'msgpackr/unpack.js',
  'ordered-binary/index.js', // See `keepKeyDecoder` in `build.ts`.
  'piscina/dist/worker.js',
  'reflect-metadata/Reflect.js', // Finds the global object.
];

/**
 * Checks which modules in a bundle compile code at run time. The bundler renames variables, but not in code that is
 * stored as text.
 * @throws {Error} if a module that is not listed compiles code
 */
export function checkCompiledCode(metafile: Bun.BuildMetafile | undefined): void {
  const found = Object.keys(metafile?.inputs ?? {}).filter(
    (path) => existsSync(path) && /(?<![.\w])(?:Function|eval)\(/.test(readFileSync(path, 'utf8')),
  );
  const unknown = found.find((path) => !compilers.some((name) => path.endsWith(`node_modules/${name}`)));
  if (unknown !== undefined)
    throw new Error(
      `${unknown} compiles code at run time: check that it uses no variable of the module, which the bundler can rename`,
    );
}
