/** The variants that a split can have: those that it has, and those that were seen. */
export function splitVariants(
  split: Readonly<Record<string, number>> | null,
  seen: readonly string[],
): readonly string[] {
  return [...new Set([...Object.keys(split ?? {}), ...seen])].sort();
}

/**
 * A split as it was typed: a weight for each variant, or nothing.
 * @returns `null` when no variant has one
 */
export function typedSplit(
  variants: readonly string[],
  weights: readonly string[],
): Readonly<Record<string, number>> | null {
  const given = variants.flatMap((variant, index) => {
    const text = (weights[index] ?? '').trim();
    return text === '' ? [] : [[variant, Number(text)] as const];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}
