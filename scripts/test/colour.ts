/**
 * The environment of the commands that a run starts. In a terminal they use colour, and elsewhere no escape codes. Many tools use colour
 * if `CI` is set, so one of the two variables always decides.
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
