import type { World } from './world.ts';

/** A request for a documented answer. */
export interface DocumentedRequest {
  /** The `Authorization` header; none when it is undefined. */
  readonly authorization: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Repeated until the answer arrives, each time with this body or path. */
  readonly again?: (time: number) => Partial<DocumentedRequest>;
}

/** Turns a request that is served into one with another answer. */
export type Recipe = (world: World, good: DocumentedRequest, route: string) => Promise<Partial<DocumentedRequest>>;
