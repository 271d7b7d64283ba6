import { completeProvider } from '../../../src/accounts/identity-providers.ts';
import type { Recipe, Wanted } from './recipe.ts';
import type { World } from './world.ts';

const provider = { name: 'Corp', issuer: 'http://login.invalid', clientId: 'flagmeter' };

/** Answers of the routes of identity providers with special setup. */
export const providerRecipes: Readonly<Record<string, Recipe>> = {
  'POST /identity-providers invalid_body': async () => ({ body: provider }),
  'POST /identity-providers plan_limit': async () => ({ again: () => ({}) }),
  'PATCH /identity-providers/:providerId invalid_body': async () => ({ body: { issuer: provider.issuer } }),
  'PATCH /identity-providers/:providerId conflict': ofOperator,
  'DELETE /identity-providers/:providerId conflict': ofOperator,
};

async function ofOperator({ service }: World, { path }: Wanted): Promise<Partial<Wanted>> {
  const settings = completeProvider(provider, { allowPrivate: true });
  const configured = { id: 'corp', number: 0, ...settings, createdAt: 0, updatedAt: 0 };
  service.setProviders({ file: '/etc/flagmeter/providers.json', providers: [configured] });
  return { path: path.replace(/[^/]+$/, configured.id) };
}
