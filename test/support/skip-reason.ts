export const withReason = (name: string, reason: string) => `${name} [skipped: ${reason}]`;

/** The reason in the full name of a test; empty where there is none. */
export function reasonIn(fullName: string): string {
  return /\[skipped: (.*?)\](?= >|$)/.exec(fullName)?.[1] ?? '';
}
