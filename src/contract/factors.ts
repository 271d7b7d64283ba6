/** What can prove who signs in. */
export const factors = ['password', 'passkey', 'totp', 'recovery-code', 'provider', 'invitation'] as const;

export type Factor = (typeof factors)[number];
