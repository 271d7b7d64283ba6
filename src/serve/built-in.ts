import { fileURLToPath } from 'node:url';
import type { ConsoleBundle } from '../console/host/files.ts';
import type { SnippetFiles } from '../ingest/telemetry/snippet.ts';
import type { ServiceDeps } from './core.ts';

/** Path of the workers in the executable, set by the build. Otherwise they are beside this bundle. */
declare const FLAGMETER_WORKERS: string | undefined;

/** The console, set by the build. */
declare const FLAGMETER_CONSOLE: ConsoleBundle;

/** The sender for pages, set by the build. */
declare const FLAGMETER_SNIPPET: SnippetFiles;

/** The parts of the service that the build provides. */
export function builtIn(): Pick<ServiceDeps, 'workerFile' | 'bundle' | 'snippet'> {
  return { workerFile, bundle: FLAGMETER_CONSOLE, snippet: FLAGMETER_SNIPPET };
}

function workerFile(name: string): string {
  if (typeof FLAGMETER_WORKERS === 'string') return `${FLAGMETER_WORKERS}${name}.js`;
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}
