import { type Counted, type ThrottleDeps, uncountAttempt } from './login-throttle.ts';

/** Checks the password of an attempt that was counted. One that is not checked after all does not count. */
export async function verifyCounted(
  deps: ThrottleDeps,
  counted: Counted,
  verify: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await verify();
  } catch (error) {
    await uncountAttempt(deps, counted);
    throw error;
  }
}
