/**
 * Returns the environment of the commands that a run starts. In a terminal they use colour, and elsewhere no escape
 * codes. `FORCE_COLOR` or `NO_COLOR` is always set, because many tools use colour if only `CI` is set.
 */
export function environmentFor(
  { NO_COLOR, FORCE_COLOR, ...others }: NodeJS.ProcessEnv,
  isTerminal: boolean | undefined,
): NodeJS.ProcessEnv {
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '0';
  const isRefused = FORCE_COLOR === '0' || (NO_COLOR !== undefined && NO_COLOR !== '');
  return isForced || (isTerminal === true && !isRefused)
    ? { ...others, FORCE_COLOR: FORCE_COLOR ?? '1' }
    : { ...others, NO_COLOR: '1' };
}
