import { parseBrowser } from '../../../contract/programs.ts';

const platforms: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'Mac'],
  [/Linux|CrOS/, 'Linux'],
];

export function findPlatform(userAgent: string): string | undefined {
  return platforms.find(([pattern]) => pattern.test(userAgent))?.[1];
}

/** The browser and its platform, for people: `Firefox 140 on Linux`. Empty if the `User-Agent` is unknown. */
export function deviceName(userAgent: string): string {
  const browser = parseBrowser(userAgent);
  return [browser && `${browser.name} ${browser.version}`, findPlatform(userAgent)].filter(Boolean).join(' on ');
}
