/** Builds the sender for pages (`src/ingest/snippet`), which the metrics host serves. */
import { gzipSync } from 'node:zlib';
import type { SnippetFiles } from '../../src/ingest/formats/telemetry/snippet.ts';
import { notePackages } from './contents.ts';
import { note } from './note.ts';

/** Maximum gzipped size, because every visitor of every page loads the sender. */
const maxGzipBytes = 1536;

/**
 * @param inside set to which the directories of the bundled npm packages are added
 * @throws {Error} if the sender does not compile or is too large
 */
export async function buildSnippet(root: string, inside: Set<string>): Promise<SnippetFiles> {
  const folder = `${root}/src/ingest/snippet`;
  const output = await Bun.build({
    metafile: true,
    entrypoints: [`${folder}/snippet.ts`],
    target: 'browser',
    minify: true,
    throw: false,
  });
  if (!output.success) throw new AggregateError(output.logs, output.logs.map(String).join('\n'));
  notePackages(output.metafile, inside);
  const script = (await output.outputs[0]!.text()).trim();
  const { length } = gzipSync(script, { level: 9 });
  note(`snippet: ${length} bytes gzipped`);
  if (length > maxGzipBytes)
    throw new Error(`The snippet is too large: ${length} bytes gzipped, the maximum is ${maxGzipBytes}`);
  return { script, declarations: await Bun.file(`${folder}/declarations.d.ts`).text() };
}
