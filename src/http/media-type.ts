import { weightIn } from './content-coding.ts';

/**
 * The offered media type that a client prefers (RFC 9110 §12.5.1). If it accepts none of them, the first.
 * @param header `Accept`
 * @param offered in lower case; the first wins a tie
 */
export function typeFor<Type extends string>(
  header: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  const ranges = rangesIn(header ?? '');
  let [chosen, most]: [Type, number] = [offered[0], 0];
  for (const type of offered) {
    const weight = weightOf(type, ranges);
    if (weight > most) [chosen, most] = [type, weight];
  }
  return chosen;
}

/** The most specific range that includes a type decides. */
function weightOf(type: string, ranges: ReadonlyMap<string, number>): number {
  const [kind] = type.split('/');
  return ranges.get(type) ?? ranges.get(`${kind}/*`) ?? ranges.get('*/*') ?? 0;
}

function rangesIn(header: string): Map<string, number> {
  const ranges = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [range = '', ...parameters] = part.split(';').map((each) => each.trim());
    ranges.set(range, weightIn(parameters));
  }
  return ranges;
}
