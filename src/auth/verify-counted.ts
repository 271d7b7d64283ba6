import { type Counted, type ThrottleDeps, uncountAttempt } from './login-throttle.ts';

/** Checks the password of a counted attempt. An attempt that cannot be checked does not count. */
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
