/**
 * Returns the offered content coding that a client prefers; `undefined` for the identity coding (RFC 9110 §12.5.3). A
 * client without the header gets the identity coding, because many clients cannot decode any other coding.
 * @param header `Accept-Encoding`
 * @param offered codings in lower case; the first wins a tie
 */
export function codingFor<Coding extends string>(
  header: string | undefined,
  offered: readonly Coding[],
): Coding | undefined {
  const weights = weightsIn(header ?? '');
  const ofOthers = weights.get('*') ?? 0;
  let chosen: Coding | undefined;
  let most = weights.get('identity') ?? 0;
  for (const coding of offered) {
    const weight = weights.get(coding) ?? ofOthers;
    const isBetter = chosen === undefined ? weight >= most : weight > most;
    if (weight > 0 && isBetter) {
      chosen = coding;
      most = weight;
    }
  }
  return chosen;
}

function weightsIn(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((each) => each.trim());
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, weightIn(parameters));
  }
  return weights;
}

/** Returns the weight of a coding or type. An invalid weight counts as 0, because callers always have a fallback. */
function weightIn(parameters: readonly string[]): number {
  const given = parameters.find((each) => each.startsWith('q='))?.slice('q='.length);
  if (given === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(given) ? Number(given) : 0;
}

/**
 * Returns the offered media type that a client prefers (RFC 9110 §12.5.1), or the first if it accepts no offered type.
 * @param header `Accept`
 * @param offered types in lower case; the first wins a tie
 */
export function typeFor<Type extends string>(header: string | undefined, offered: readonly [Type, ...Type[]]): Type {
  const ranges = rangesIn(header ?? '');
  let chosen: Type = offered[0];
  let most = 0;
  for (const type of offered) {
    const weight = findWeight(type, ranges);
    if (weight > most) {
      chosen = type;
      most = weight;
    }
  }
  return chosen;
}

/** Returns the weight of a type. The most specific range that includes the type decides. */
function findWeight(type: string, ranges: ReadonlyMap<string, number>): number {
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
