import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ConsoleIndex } from '../console/host/pages.ts';
import type { SnippetFiles } from '../ingest/formats/telemetry/snippet.ts';
import type { ServiceDeps } from './core.ts';

/** Path of the workers in the executable, set by the build. Without this path, the workers are next to this bundle. */
declare const FLAGMETER_WORKERS: string | undefined;

/** Folder of other files in the executable, set by the build. By default, the files are next to this bundle. */
declare const FLAGMETER_FILES: string | undefined;

/** Index of the console's files, set by the build. `console.bin` contains the files. */
declare const FLAGMETER_CONSOLE: ConsoleIndex;

/** The script that sends packets from web pages, set by the build. */
declare const FLAGMETER_SNIPPET: SnippetFiles;

export function builtIn(): Pick<ServiceDeps, 'workerFile' | 'bundle' | 'snippet'> {
  return { workerFile, bundle: { ...FLAGMETER_CONSOLE, content }, snippet: FLAGMETER_SNIPPET };
}

let read: Uint8Array | undefined;

function content(): Uint8Array {
  read ??= readFileSync(
    typeof FLAGMETER_FILES === 'string' ? `${FLAGMETER_FILES}console.bin` : new URL('./console.bin', import.meta.url),
  );
  return read;
}

function workerFile(name: string): string {
  if (typeof FLAGMETER_WORKERS === 'string') return `${FLAGMETER_WORKERS}${name}.js`;
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}
