import type { RefusalCode } from '../../../src/contract/refusals.ts';
import { maxSignInAge } from '../../../src/contract/step-up.ts';
import type { DocumentedRequest, Recipe } from './recipe.ts';
import { specialRecipes } from './special-recipes.ts';
import { goodRequest } from './targets.ts';
import type { World } from './world.ts';

/** Returns a request that causes a status or a refusal code. */
export async function requestFor(
  world: World,
  route: string,
  expected: number | RefusalCode,
): Promise<DocumentedRequest> {
  const { method, path, body } = await goodRequest(world, route);
  const good: DocumentedRequest = { authorization: world.asAdmin, method, path, body };
  const recipe = specialRecipes[`${route} ${expected}`] ?? (typeof expected === 'number' ? undefined : usual[expected]);
  if (recipe !== undefined) return { ...good, ...(await recipe(world, good, route)) };
  if (typeof expected === 'number') return good;
  throw new Error(`No request is known that ${route} refuses with ${expected}`);
}

/** Recipes for the refusals that all routes have. */
const usual: Partial<Record<RefusalCode, Recipe>> = {
  unauthorized: async () => ({ authorization: undefined }),
  forbidden: async ({ sign, viewer }) => ({ authorization: `Bearer ${await sign(viewer)}` }),
  insufficient_user_authentication: async ({ sign, admin }) => ({
    authorization: `Bearer ${await sign(admin, 0, 'openid flagmeter', maxSignInAge + 1)}`,
  }),
  not_in_team: async ({ sign, outsider }) => ({ authorization: `Bearer ${await sign(outsider)}` }),
  not_found: async (_world, _good, route) => ({ path: pathWith(route, 'none') }),
  invalid_path: async (_world, _good, route) => ({ path: pathWith(route, '%ff') }),
  invalid_query: async (_world, { path }) => ({ path: `${bare(path)}?limit=0` }),
  unknown_environment: async (_world, { path }) => ({ path: `${bare(path)}?environment=Nowhere` }),
  invalid_body: async () => ({ body: { colour: 'red' } }),
  invalid_json: async () => ({ body: '{' }),
  invalid_encoding: async () => ({ body: Uint8Array.of(0xff) }),
  invalid_content_encoding: async () => ({ headers: { 'content-encoding': 'br' } }),
  body_too_large: async () => ({ body: ' '.repeat(70_000) }),
  precondition_failed: async () => ({ headers: { 'if-match': '"another"' } }),
  invalid_name: async (_world, { body }) => ({ body: { ...(body as object), name: '' } }),
  store_unavailable: async () => ({}),
  backpressure: async () => ({}),
};

/** Removes the query from a path. */
function bare(path: string): string {
  return path.replace(/\?.*/, '');
}

function pathWith(route: string, text: string): string {
  return `/api/v2${route.slice(route.indexOf('/')).replaceAll(/:\w+/g, text)}`;
}
