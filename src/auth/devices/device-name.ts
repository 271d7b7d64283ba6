const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/Edg(?:e|A|iOS)?\/(\d+)/, 'Edge'],
  [/OPR\/(\d+)/, 'Opera'],
  [/SamsungBrowser\/(\d+)/, 'Samsung Internet'],
  [/(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/(?:Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/Version\/(\d+)[\d.]* .*Safari\//, 'Safari'],
];

const platforms: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'Mac'],
  [/Linux|CrOS/, 'Linux'],
];

/** The platform of a browser, from its `User-Agent`. */
export function platformOf(userAgent: string): string | undefined {
  return platforms.find(([pattern]) => pattern.test(userAgent))?.[1];
}

/** The browser and its platform for people: `Firefox 140 on Linux`. Empty if the `User-Agent` names neither. */
export function deviceName(userAgent: string): string {
  const [pattern, name] = browsers.find(([pattern]) => pattern.test(userAgent)) ?? [];
  const browser = name && `${name} ${pattern!.exec(userAgent)![1]}`;
  return [browser, platformOf(userAgent)].filter(Boolean).join(' on ');
}
