import { version as number } from '../../package.json' with { type: 'json' };
import type { Terminal } from './terminal.ts';

/** Prints the program's version, the runtime inside it and the platform it is for. */
export function version(_argv: readonly string[], terminal: Terminal): number {
  const bun = process.versions['bun'];
  const runtime = bun === undefined ? `Node ${process.versions.node}` : `Bun ${bun}`;
  terminal.out(`flagmeter ${number} (${runtime}, ${process.platform} ${process.arch})\n`);
  return 0;
}
