import type { World } from './world.ts';

/** A request that causes a documented response. */
export interface DocumentedRequest {
  /** The `Authorization` header; `undefined` for a request without the header. */
  readonly authorization: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body or path of each repetition. The request is repeated until the wanted response arrives. */
  readonly again?: (time: number) => Partial<DocumentedRequest>;
}

/** Changes a successful request so that it gets another response. */
export type Recipe = (world: World, good: DocumentedRequest, route: string) => Promise<Partial<DocumentedRequest>>;
