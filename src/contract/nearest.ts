import { distance } from 'fastest-levenshtein';

/**
 * Returns the most similar known name, unless at least half of its letters differ. Names that differ only in additional
 * letters at the end are similar. Case is ignored.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const away = begins(wanted, candidate.toLowerCase()) ? 1 : distance(wanted, candidate.toLowerCase());
    if (away * 2 >= Math.max(candidate.length, wanted.length)) continue;
    if (best === undefined || away < best.distance) best = { name: candidate, distance: away };
  }
  return best?.name;
}

/** True if one name starts with the other, as `environment` does with `env`. */
function begins(one: string, other: string): boolean {
  return Math.min(one.length, other.length) > 2 && (one.startsWith(other) || other.startsWith(one));
}

/** Returns the end of a message about an unknown name: `prefix` and the nearest known name, or an empty text. */
export function nearestKnown(name: string, known: readonly string[], prefix = ''): string {
  const found = nearest(name, known);
  return found === undefined ? '' : `; the nearest known one is ${prefix}${found}`;
}
