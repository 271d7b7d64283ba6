import { browserOf } from '../../../contract/programs.ts';

const platforms: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'Mac'],
  [/Linux|CrOS/, 'Linux'],
];

export function platformOf(userAgent: string): string | undefined {
  return platforms.find(([pattern]) => pattern.test(userAgent))?.[1];
}

/** The browser and its platform for people: `Firefox 140 on Linux`. Empty if the `User-Agent` names neither. */
export function deviceName(userAgent: string): string {
  const browser = browserOf(userAgent);
  return [browser && `${browser.name} ${browser.version}`, platformOf(userAgent)].filter(Boolean).join(' on ');
}
