import { distance } from 'fastest-levenshtein';

/**
 * The known name that was probably meant: the nearest one, unless half of it or more differs, or one that is longer or
 * shorter at its end. Upper and lower case are the same here.
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

/** Whether one begins with the other, as `environment` does with `env`. */
function begins(one: string, other: string): boolean {
  return Math.min(one.length, other.length) > 2 && (one.startsWith(other) || other.startsWith(one));
}

/** Ends a message about an unknown name: what was probably meant, after `prefix`, or nothing when no name is near. */
export function nearestKnown(name: string, known: readonly string[], prefix = ''): string {
  const found = nearest(name, known);
  return found === undefined ? '' : `; the nearest known one is ${prefix}${found}`;
}
