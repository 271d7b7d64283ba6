/** What packages are made for, as each of them calls it. */
export const targets = {
  'linux-x64': { debian: 'amd64' },
  'linux-arm64': { debian: 'arm64' },
} as const;

export type Target = keyof typeof targets;

export function isTarget(name: string): name is Target {
  return Object.hasOwn(targets, name);
}
