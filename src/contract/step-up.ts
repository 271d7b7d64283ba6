/** Maximum age of a sign-in with which a user may make dangerous changes, seconds. */
export const maxSignInAge = 15 * 60;

/**
 * True if a sign-in is recent enough for a dangerous change.
 * @param authTime when the user signed in, seconds
 * @param now Unix milliseconds
 */
export function isRecentSignIn(authTime: number, now: number): boolean {
  return now / 1000 - authTime <= maxSignInAge;
}
