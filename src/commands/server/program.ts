import { version } from '../../../package.json' with { type: 'json' };

/** Describes the program, its runtime and its platform. */
export function describeProgram(): string {
  const bun = process.versions['bun'];
  const runtime = bun === undefined ? `Node ${process.versions.node}` : `Bun ${bun}`;
  return `flagmeter ${version} (${runtime}, ${process.platform} ${process.arch})`;
}
