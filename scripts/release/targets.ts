/** The targets of packages, with their name in each packaging format. */
export const targets = { 'linux-x64': { debian: 'amd64' }, 'linux-arm64': { debian: 'arm64' } } as const;

export type Target = keyof typeof targets;

export function isTarget(name: string): name is Target {
  return Object.hasOwn(targets, name);
}
