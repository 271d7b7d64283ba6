import { loadUws } from '../../src/http/engines/uws.ts';

/**
 * The reason why the service cannot run on this Node, whose HTTP engine is an optional dependency. `undefined` if the
 * service can run.
 */
export const whyNotOnNode: string | undefined = fault();

function fault(): string | undefined {
  try {
    loadUws();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
