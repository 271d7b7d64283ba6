/** Maximum age of the sign-in of a user who makes a dangerous change, seconds. */
export const maxSignInAge = 15 * 60;
