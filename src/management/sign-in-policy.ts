import { patchSignInPolicy, readSignInPolicy } from '../accounts/sign-in-policy.ts';
import { SignInPolicy, SignInPolicyPatch } from '../contract/shapes/sign-in-policy.ts';
import type { SignInPolicy as StoredPolicy } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { checkMatch, oneTagged, tagged } from './responses.ts';

const access = { within: 'installation', least: 'Admin' } as const;

export const signInPolicy: Group = {
  tag: 'Sign-in policy',
  description:
    'Rules for the sign-in of all users of the installation. Only the Admins of the first team, who run the installation, may read and change it.',
  endpoints: [
    endpoint('GET /sign-in-policy', {
      access,
      operationId: 'getSignInPolicy',
      summary: 'Read the sign-in policy',
      responses: { 200: oneTagged(SignInPolicy, 'The policy.') },
      handle: (_call, { accountStore }) => tagged(show(readSignInPolicy(accountStore))),
    }),
    endpoint('PATCH /sign-in-policy', {
      access: { ...access, recent: true },
      operationId: 'changeSignInPolicy',
      summary: 'Change the sign-in policy',
      description:
        'A change applies at the next sign-in or authorisation of each user. Existing sessions continue. Users who lack a second factor that is now required set it up after their password.',
      body: SignInPolicyPatch,
      matches: true,
      responses: { 200: oneTagged(SignInPolicy, 'The policy after the change.') },
      async handle({ directory, request, body }, { providers }) {
        const matched = directory.under({ check: (tx) => checkMatch(request, show(readSignInPolicy(tx))) });
        return tagged(show(await patchSignInPolicy(matched, body, providers)));
      },
    }),
  ],
};

function show({ secondFactor, passwords, breakGlass, domains }: StoredPolicy): SignInPolicy {
  return { secondFactor, passwords, breakGlass: [...breakGlass], domains: [...domains] };
}
