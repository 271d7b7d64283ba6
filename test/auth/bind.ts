import { type Endpoint, routesFrom } from '../../src/http/endpoint.ts';
import type { Route } from '../../src/http/types.ts';

export function bind<Deps>(endpoints: readonly Endpoint<Deps>[], deps: Deps): readonly Route[] {
  return routesFrom([{ tag: '', description: '', endpoints }], deps);
}
