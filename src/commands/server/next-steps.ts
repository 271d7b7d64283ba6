import { basename, relative, sep } from 'node:path';

interface StartedServer {
  /** Public URL of the management API. */
  readonly url: string;
  /** Absolute path. */
  readonly program: string;
  readonly directory: string;
}

/** Next steps for a person who has started a server at a terminal. */
export function nextSteps({ url, program, directory }: StartedServer): string {
  const name = nameOf(program, directory);
  const at = url === 'http://127.0.0.1:8080' ? '' : ` --url ${url}`;
  return `
flagmeter is running. Open ${url}/

In another terminal:
  ${name} login${at}
  ${name} apps create Shop
  ${name} keys create Frontend --app Shop

Ctrl-C stops the server.

`;
}

/** The command that runs the program from `directory`. */
function nameOf(program: string, directory: string): string {
  const path = relative(directory, program);
  if (path.startsWith('..') || directory === sep) return basename(program);
  return path.includes(sep) ? path : `.${sep}${path}`;
}
