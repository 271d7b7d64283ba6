export const withReason = (name: string, reason: string) => `${name} [skipped: ${reason}]`;

/** Returns the reason in the full name of a test; empty without a reason. */
export function reasonIn(fullName: string): string {
  return /\[skipped: (.*?)\](?= >|$)/.exec(fullName)?.[1] ?? '';
}
