import type { AccountTransaction } from '../accounts/account-transaction.ts';
import { missing, mustExist, nameRule, tooMany } from '../accounts/checks.ts';
import {
  createProvider,
  deleteProvider,
  describeTarget,
  listIdentities,
  maxProviders,
  patchProvider,
  unlink,
} from '../accounts/identity-providers.ts';
import { listPasskeys } from '../accounts/passkeys.ts';
import { hasPassword } from '../accounts/passwords.ts';
import { mayUsePassword, requiredProvider } from '../accounts/sign-in-policy.ts';
import { checkProvider } from '../auth/sso/issuers.ts';
import { buildProviderUrls } from '../auth/sso/providers.ts';
import { Refusal } from '../contract/errors.ts';
import {
  IdentityProvider,
  IdentityProviderPatch,
  LinkedIdentities,
  type LinkedIdentity,
  NewIdentityProvider,
  ProviderCheck,
} from '../contract/shapes/identity-provider.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { urlRule } from '../http/outbound/addresses.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type {
  LinkedIdentity as StoredIdentity,
  IdentityProvider as StoredProvider,
} from '../storage/lmdb/auth-records.ts';
import type { User as StoredUser } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { created, done, made, page } from './responses.ts';
import type { Services } from './services.ts';
import { checkManagesSignIn } from './users.ts';

const access = { within: 'installation', least: 'Admin' } as const;
const changing = { ...access, recent: true } as const;

const refusesSettings = {
  invalid_name: nameRule('an identity provider'),
  invalid_body: `\`issuer\` ${urlRule(false)}`,
};

const lastWay =
  'Without this account, you could no longer sign in: set a password or add a passkey first, or ask another Admin to unlink the account';

const ofOperator = (file: string) =>
  `The operator has configured this identity provider in ${file} (--identity-providers): change it there, and send SIGHUP to the server`;

const refusesChange = {
  not_found: missing('identity provider'),
  conflict: ofOperator('/etc/flagmeter/providers.json'),
};

/** `/api/v2/identity-providers`, and the linked accounts of users. */
export const identityProviders: Group = {
  tag: 'Identity providers',
  description:
    'Services that users sign in with (OpenID Connect). Only the Admins of the first team, who run the installation, may read and change them.',
  endpoints: [
    endpoint('GET /identity-providers', {
      access,
      operationId: 'listIdentityProviders',
      summary: 'List the identity providers',
      responses: {
        200: page(
          IdentityProvider,
          'The providers that the operator has configured come first, then the other providers, the oldest first.',
        ),
      },
      handle: (_call, services) =>
        ok({ items: services.providers.all().map((provider) => show(services, provider)), nextCursor: null }),
    }),
    endpoint('POST /identity-providers', {
      access: changing,
      operationId: 'createIdentityProvider',
      summary: 'Set up an identity provider',
      body: NewIdentityProvider,
      responses: { 201: made(IdentityProvider, 'The provider. Register the URLs in this response at the provider.') },
      refuses: { ...refusesSettings, plan_limit: tooMany('identity providers', maxProviders) },
      async handle({ directory, body }, services) {
        const provider = await createProvider(directory, body, services.issuerRules);
        return created(['identity-providers', provider.id], show(services, provider));
      },
    }),
    endpoint('GET /identity-providers/:providerId', {
      access,
      operationId: 'getIdentityProvider',
      summary: 'Read an identity provider',
      responses: { 200: jsonResponse(IdentityProvider, 'The provider.') },
      refuses: { not_found: missing('identity provider') },
      handle: ({ params }, services) => ok(show(services, find(services, params.providerId))),
    }),
    endpoint('PATCH /identity-providers/:providerId', {
      access: changing,
      operationId: 'changeIdentityProvider',
      summary: 'Change an identity provider',
      description: 'Users who are signed in with the provider stay signed in.',
      body: IdentityProviderPatch,
      responses: { 200: jsonResponse(IdentityProvider, 'The provider after the change.') },
      refuses: { ...refusesSettings, ...refusesChange },
      async handle({ directory, params: { providerId }, body }, services) {
        mayChange(services, providerId);
        return ok(show(services, await patchProvider(directory, providerId, body, services.issuerRules)));
      },
    }),
    endpoint('DELETE /identity-providers/:providerId', {
      access: changing,
      operationId: 'deleteIdentityProvider',
      summary: 'Delete an identity provider',
      description: 'Users can no longer sign in with the provider. Users who are signed in with it stay signed in.',
      responses: { 204: done('The provider is deleted.') },
      refuses: refusesChange,
      handle({ directory, params: { providerId } }, services) {
        mayChange(services, providerId);
        return deleteProvider(directory, providerId);
      },
    }),
    endpoint('POST /identity-providers/:providerId/test', {
      access,
      operationId: 'testIdentityProvider',
      summary: 'Test the connection to an identity provider',
      description: 'Reads the discovery document and the keys of the provider.',
      responses: { 200: jsonResponse(ProviderCheck, 'The result of the test.') },
      refuses: { not_found: missing('identity provider') },
      async handle({ directory, params }, services) {
        const provider = find(services, params.providerId);
        await directory.change((tx) => tx.note('identity-provider.tested', null, describeTarget(provider)));
        return ok(await checkProvider(services.issuers, provider));
      },
    }),
    endpoint('GET /users/:id/identities', {
      access: { within: 'user', least: 'Admin', orSelf: true },
      operationId: 'listLinkedIdentities',
      summary: 'List the accounts at identity providers that a user signs in with',
      responses: { 200: jsonResponse(LinkedIdentities, 'The accounts, the oldest link first.') },
      handle: ({ user }, services) =>
        ok({
          items: listIdentities(services.accountStore, user.id).map((linked) => showLinked(services, linked)),
          linkable: services.providers.linkable(services.accountStore, user).length > 0,
        }),
    }),
    endpoint('DELETE /users/:id/identities/:identityId', {
      access: { within: 'user', least: 'Admin', orSelf: true, recent: true },
      operationId: 'unlinkIdentity',
      summary: 'Unlink an account at an identity provider',
      description: 'For another user, requires an Admin who is in all teams of the user. Existing sessions continue.',
      responses: { 204: done('The account is unlinked.') },
      refuses: { conflict: lastWay },
      handle: ({ directory, caller, callerIn, user, params }) =>
        directory.change((tx) => {
          const current = tx.users.get(user.id) ?? user;
          checkManagesSignIn(callerIn(tx), current);
          const all = listIdentities(tx, user.id);
          const linked = mustExist(
            'linked account',
            all.find(({ id }) => id === params.identityId),
          );
          if (user.id === caller.id && all.length === 1 && !hasOtherWay(tx, current))
            throw new Refusal('conflict', lastWay);
          unlink(tx, linked);
        }),
    }),
  ],
};

/** True if a user can sign in without an identity provider. */
function hasOtherWay(tx: AccountTransaction, user: StoredUser): boolean {
  const isFree = requiredProvider(tx, user) === undefined;
  return (hasPassword(user) && mayUsePassword(tx, user)) || (isFree && listPasskeys(tx, user.id).length > 0);
}

/** @throws {Refusal} `not_found` */
function find({ providers }: Services, id: string): StoredProvider {
  return mustExist('identity provider', providers.find(id));
}

/** @throws {Refusal} `conflict` for a provider from the operator's configuration */
function mayChange({ providers }: Services, id: string): void {
  const file = providers.findFile(id);
  if (file !== undefined) throw new Refusal('conflict', ofOperator(file));
}

/** Formats a provider for a response, without its secret. */
function show({ providers, authUrl }: Services, provider: StoredProvider): IdentityProvider {
  const { clientSecret, number: _, createdAt, updatedAt, scopes, claimRules, ...shown } = provider;
  return {
    ...shown,
    scopes: [...scopes],
    claimRules: [...claimRules],
    hasClientSecret: clientSecret !== null,
    source: providers.isConfigured(provider.id) ? 'file' : 'api',
    ...buildProviderUrls(authUrl, provider),
    createdAt: timeText(createdAt),
    updatedAt: timeText(updatedAt),
  };
}

function showLinked({ providers }: Services, linked: StoredIdentity): LinkedIdentity {
  const { id, issuer, email, linkedAt, lastUsedAt } = linked;
  return {
    id,
    issuer,
    email,
    provider: providers.ofIssuer(issuer)?.name ?? issuer,
    linkedAt: timeText(linkedAt),
    lastUsedAt: timeText(lastUsedAt),
  };
}
