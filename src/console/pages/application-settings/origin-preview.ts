/** Preview of the origins that an entry allows, computed in the browser with the rules of the server. */
type OriginPreview =
  | {
      readonly fault?: never;
      readonly words: string;
      /** Examples of allowed origins. */
      readonly matches: readonly string[];
      /** Similar origins that are not allowed. */
      readonly misses: readonly string[];
    }
  | { readonly fault: string };

const ownMachine = /^(https?):\/\/(localhost|127\.0\.0\.1|\[::1\]):\*$/i;

export function previewOrigin(text: string): OriginPreview {
  const entry = text.trim().replace(/\/$/, '');
  if (entry === 'null') {
    return { words: 'Sandboxed frames, and pages opened from a file', matches: ['null'], misses: [] };
  }
  const [, scheme, machine] = ownMachine.exec(entry) ?? [];
  if (scheme !== undefined && machine !== undefined) return ofOwnMachine(scheme, machine);
  const star = entry.indexOf('://*.');
  const origin = star < 0 ? entry : entry.slice(0, star + 3) + entry.slice(star + 5);
  const fault = findFault(origin);
  if (fault !== undefined) return { fault };
  return star < 0 ? ofOne(new URL(origin)) : ofSubdomains(new URL(origin));
}

function findFault(origin: string): string | undefined {
  if (origin.includes('*')) {
    return 'A * stands for all subdomains (https://*.example.com) or any port of this computer (http://localhost:*)';
  }
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(origin)) {
    return `An origin begins with https:// or http://, as in https://${/^[\w.-]+$/.test(origin) ? origin : 'example.com'}`;
  }
  const url = URL.parse(origin);
  if (url === null || url.host === '') return 'Not the address of a page';
  if (origin.includes('@')) return 'An origin has no user name';
  if (/[/?#]|:$/.test(origin.slice(origin.indexOf('://') + 3))) {
    return `An origin ends after the host and the port: ${url.protocol}//${url.host}`;
  }
  return undefined;
}

function ofOne({ protocol, host }: URL): OriginPreview {
  const other = protocol === 'https:' ? 'http:' : 'https:';
  const subdomain = isName(host) ? [`${protocol}//www.${host}`] : [];
  return {
    words: 'Pages of this origin only',
    matches: [`${protocol}//${host}`],
    misses: [...subdomain, `${other}//${host}`],
  };
}

function ofSubdomains({ protocol, host }: URL): OriginPreview {
  if (!isName(host)) return { fault: 'Only host names have subdomains' };
  return {
    words: `Pages of all subdomains of ${host}, at any depth`,
    matches: [`${protocol}//www.${host}`, `${protocol}//a.b.${host}`],
    misses: [`${protocol}//${host}`],
  };
}

function ofOwnMachine(scheme: string, machine: string): OriginPreview {
  const origin = `${scheme}://${machine}`.toLowerCase();
  const other = scheme.toLowerCase() === 'https' ? 'http' : 'https';
  return {
    words: 'Pages of this computer, on any port',
    matches: [`${origin}:3000`, origin],
    misses: [`${other}://${machine.toLowerCase()}:3000`],
  };
}

function isName(host: string): boolean {
  return !/^[\d.]+(:|$)|^[[.]/.test(host);
}
