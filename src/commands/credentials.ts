import type { FirstCredentials } from '../accounts/prepare.ts';

/** The first credentials for a person to read, once. */
export function credentialsText(made: FirstCredentials): string {
  return `The store is prepared. These credentials are shown once; keep them in a safe place.

  Administrator   ${made.adminEmail}
  Password        ${made.adminPassword}

  Team            ${made.teamId}
  Client id       ${made.clientId}
  Client secret   ${made.clientSecret}

`;
}
