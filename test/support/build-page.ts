import { build } from 'rolldown';

/** Builds a program for the browser from a source file. @returns the script */
export async function buildPage(input: string): Promise<string> {
  const define = { 'process.env.NODE_ENV': '"production"' };
  const { output } = await build({ input, platform: 'browser', write: false, transform: { define } });
  return output[0].code;
}
