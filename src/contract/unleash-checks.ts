/**
 * The variant name that Unleash SDKs report if a flag has no variant, even if the flag is enabled. The totals `yes` and
 * `no` in a report include the checks with this name.
 */
export const noVariant = 'disabled';

/**
 * Returns the number of checks of an Unleash flag that returned no variant. `yes` and `no` include the checks of
 * variants. A variant served as a fallback, while the flag is disabled, counts towards `no`. Unleash does not report
 * which variants are fallbacks, so the checks of variants are subtracted from `yes` first, then from `no`.
 * @param served checks of all variants
 */
export function withoutVariant(
  yes: number,
  no: number,
  served: number,
): { readonly enabled: number; readonly disabled: number } {
  return { enabled: Math.max(0, yes - served), disabled: Math.max(0, no - Math.max(0, served - yes)) };
}
