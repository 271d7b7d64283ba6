/** The subject of an address. */
export interface Place {
  readonly application: string | undefined;
  readonly environment: string | undefined;
  /** `flags`, `settings` …; empty if the address names none. */
  readonly page: string;
}

/** Properties of a page of an environment, from the router. `CheckedPlace` verifies that both exist. */
export interface InEnvironment {
  readonly application: string;
  readonly environment: string;
}

/**
 * Reads an address.
 * @param path without the root of the console
 */
export function placeOf(path: string, query: Readonly<Record<string, string>>): Place {
  const [first = '', second, third, fourth = ''] = path.split('/').filter(Boolean).map(decoded);
  if (first === 'apps') return { application: second, environment: third, page: fourth };
  if (first === 'settings' && second === 'application')
    return { application: query['app'], environment: undefined, page: 'application' };
  return { application: undefined, environment: undefined, page: first };
}

/** Decodes a segment. A malformed one becomes a name that does not exist. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '\ufffd';
  }
}
