/**
 * Whether a password is one of the most common ones, ignoring case. Attackers try these first (NIST SP 800-63B §3.1.1.2).
 * Loading the list takes tens of milliseconds, so a service calls this in its hashing threads.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= load();
  return (await list).has(password.toLowerCase());
}

let list: Promise<ReadonlySet<string>> | undefined;

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
