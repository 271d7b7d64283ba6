import type { World } from './world.ts';

/** A request that gets a documented answer. */
export interface Wanted {
  /** The `Authorization` header; none when it is undefined. */
  readonly authorization: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent over and over until it gets its answer, each time with this body or path. */
  readonly again?: (time: number) => Partial<Wanted>;
}

/** Makes a request of one that is served: what it takes to be refused, or answered in another way. */
export type Recipe = (world: World, good: Wanted, route: string) => Promise<Partial<Wanted>>;
