import type { Descriptors } from '../connection-limiter.ts';
import type { HttpEngine } from '../types.ts';

/** Loads the HTTP engine of the runtime. Bun has µWebSockets built in; on Node an add-on provides it. */
export async function loadHttpEngine(): Promise<HttpEngine> {
  if (process.versions['bun'] !== undefined) return (await import('./bun.ts')).bunEngine;
  return (await import('./uws.ts')).uwsEngine;
}

/** Returns access to the descriptors; `undefined` on Node, which cannot list the connections of a process. */
export async function loadDescriptors(): Promise<Descriptors | undefined> {
  if (process.versions['bun'] === undefined) return undefined;
  return (await import('./bun-descriptors.ts')).openDescriptors();
}
