/** The length of a new password (NIST SP 800-63B §3.1.1.2). Existing passwords may be shorter. */
export const passwordLength = { minCharacters: 12, maxBytes: 1024 };
