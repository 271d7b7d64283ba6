import type { FirstCredentials } from '../accounts/prepare.ts';

/** The first credentials for a person to read, once. @param data the directory that was prepared, if it was one */
export function credentialsText(made: FirstCredentials, data?: string): string {
  return `The store is prepared${data === undefined ? '' : ` in ${data}`}. These credentials are shown once; keep them in a safe place.
A generated password has to be replaced at the first sign-in.

  Administrator   ${made.adminEmail}
  Password        ${made.adminPassword}

  Team            ${made.teamId}
  Client id       ${made.clientId}
  Client secret   ${made.clientSecret}

`;
}
