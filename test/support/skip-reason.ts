export const withReason = (name: string, reason: string) => `${name} [skipped: ${reason}]`;

/** Returns the reason why a test is skipped, from its full name; empty if the name has no reason. */
export function reasonIn(fullName: string): string {
  return /\[skipped: (.*?)\](?= >|$)/.exec(fullName)?.[1] ?? '';
}
