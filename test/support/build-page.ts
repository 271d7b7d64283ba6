import { build } from 'rolldown';

/** Builds the program of a page from a file of source code. @returns a script for a page */
export async function buildPage(input: string): Promise<string> {
  const define = { 'process.env.NODE_ENV': '"production"' };
  const { output } = await build({ input, platform: 'browser', write: false, transform: { define } });
  return output[0].code;
}
