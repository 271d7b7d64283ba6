import { surplusName } from './names.ts';

/** A program that sends requests, from its `User-Agent`. */
export interface Program {
  readonly name: string;
  readonly version: string | undefined;
}

/** Browsers by their token in `User-Agent`. The first match counts, because most headers contain several tokens. */
const browsers: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d{1,4})/],
  ['Opera', /\bOPR\/(\d{1,4})/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d{1,4})/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d{1,4})/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d{1,4})/],
  ['Safari', /\bVersion\/(\d{1,4})\S* (?:Mobile\/\S+ )?Safari\//],
];

/** Name used for browsers of all other families. */
export const unknownBrowser = 'Browser';

const longest = 500;

/** Returns a browser and its major version; `undefined` for other programs. */
export function parseBrowser(userAgent: string): Program | undefined {
  const head = userAgent.slice(0, longest);
  for (const [name, mark] of browsers) {
    const version = mark.exec(head)?.[1];
    if (version !== undefined) return { name, version };
  }
  return undefined;
}

/** Returns the first product of a `User-Agent` (RFC 9110 §10.1.5). Unlike in the RFC, its name can contain spaces. */
export function parseProduct(userAgent: string): Program {
  const [, name = '', version] = /^([^/(;]*)(?:\/([^\s(;]*))?/.exec(userAgent.slice(0, longest)) ?? [];
  return { name, version };
}

/** Returns a program and its version. */
export function parseProgram(userAgent: string): Program {
  const browser = userAgent.startsWith('Mozilla/') ? parseBrowser(userAgent) : undefined;
  const { name, version } = browser ?? parseProduct(userAgent);
  // Unleash SDKs separate the version by a space or a colon.
  const [, program = '', said = version] = /^(.*?)(?:[ :@](v?\d+\.[\w.+-]*))?$/.exec(name.trim()) ?? [];
  const known = said !== undefined && /^v?\d/.test(said) ? said : undefined;
  return program === '' ? { name: userAgent, version: undefined } : { name: program, version: known };
}

export function programText(userAgent: string): string {
  const { name, version } = parseProgram(userAgent);
  return version === undefined ? name : `${name} ${version}`;
}

/** Returns the name of the program that sent a message, or the name that the sender gave itself. */
export function senderProgram(userAgent: string | null, instance: string | null): string {
  if (userAgent === surplusName) return 'Other senders';
  return userAgent === null ? (instance ?? 'A sender without a name') : parseProgram(userAgent).name;
}

/** True if a recorded sender is a browser. All other senders are programs that teams run. */
export function isBrowser(name: string): boolean {
  return name === unknownBrowser || browsers.some(([each]) => each === name);
}
