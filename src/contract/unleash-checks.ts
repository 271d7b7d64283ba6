/**
 * The variant name that SDKs report without a variant, even while the flag is enabled. Its checks are in `yes` or `no`.
 */
export const noVariant = 'disabled';

/**
 * Divides the checks of a flag of Unleash that no variant accounts for. `yes` and `no` include the checks of variants,
 * which SDKs also serve while a flag is disabled: a fallback counts towards `no`. Unleash does not report which
 * variants these are, so variants reduce `yes` first, then `no`.
 * @param served checks of all variants
 */
export function withoutVariant(
  yes: number,
  no: number,
  served: number,
): { readonly enabled: number; readonly disabled: number } {
  return { enabled: Math.max(0, yes - served), disabled: Math.max(0, no - Math.max(0, served - yes)) };
}
