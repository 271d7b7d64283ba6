/** Builds the package for OpenFeature's SDKs (`clients/openfeature`) into its `dist` folder for `npm publish`. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { note } from './note.ts';

/** Maximum gzipped size of the entry point for browsers, because every visitor loads it. */
const maxGzipBytes = 3072;

/** @throws {Error} if the package does not compile, contains other packages, or is too large for pages */
export async function buildOpenFeature(root: string): Promise<void> {
  const folder = join(root, 'clients/openfeature');
  const dist = join(folder, 'dist');
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const web = await bundle(`${folder}/src/web.ts`, { target: 'browser', minify: true });
  const { length } = gzipSync(web, { level: 9 });
  note(`clients/openfeature: ${length} bytes gzipped for pages`);
  if (length > maxGzipBytes)
    throw new Error(`dist/web.js is too large: ${length} bytes gzipped, the maximum is ${maxGzipBytes}`);
  writeFileSync(join(dist, 'web.js'), web);
  writeFileSync(join(dist, 'server.js'), await bundle(`${folder}/src/server.ts`, { target: 'node' }));
  const types = ['web', 'server', 'evaluations'].map((name) => `${folder}/types/${name}.d.ts`);
  for (const path of [...types, `${root}/src/ingest/snippet/declarations.d.ts`])
    writeFileSync(join(dist, basename(path)), relativeTypes(readFileSync(path, 'utf8')));
  cpSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));
}

async function bundle(entrypoint: string, options: Partial<Bun.BuildConfig>): Promise<string> {
  const output = await Bun.build({
    ...options,
    entrypoints: [entrypoint],
    packages: 'external',
    throw: false,
  } as Bun.BuildConfig);
  if (!output.success) throw new AggregateError(output.logs, output.logs.map(String).join('\n'));
  return output.outputs[0]!.text();
}

/** Rewrites the imports in type declarations, because all declarations are in one directory. */
function relativeTypes(text: string): string {
  return text.replace(/'\.[^']*?(\w+)\.d\.ts'/g, "'./$1.js'");
}

if (import.meta.main) await buildOpenFeature(join(import.meta.dir, '../..'));
