/**
 * All reasons to refuse a sign-in with an identity provider, each with the administrator's remedy. The audit log
 * contains the code, and the sign-in page shows it.
 */
export const providerRefusals = {
  provider_unreachable: 'The provider does not respond within 5 seconds. Check its address and the network.',
  provider_private_address:
    'The provider has a private address or no https: URL. The operator can allow both with --issuer-allow-private.',
  provider_document_invalid:
    'The discovery document or the key set of the provider is malformed, larger than 256 KiB, or redirects.',
  issuer_mismatch:
    'The configured issuer differs from the discovery document. Copy the issuer from the discovery document.',
  mixed_up: 'The response came from a provider other than the requested one (RFC 9207).',
  denied_by_provider: 'The provider refused the sign-in, or the user cancelled it there.',
  code_refused:
    'The provider refused the authorization code. Check the client id, the client secret and the redirect URI.',
  id_token_invalid: 'The ID token is missing or malformed, or lacks a required claim.',
  signature_invalid: 'The token has a forbidden algorithm, or a key that the provider has not published.',
  nonce_mismatch: 'The ID token was issued for another sign-in.',
  audience_mismatch: 'The token was issued for another client.',
  token_expired: 'The token has expired or is not valid yet. Check the clocks of both services.',
  authenticated_too_long_ago: 'A recent sign-in is required, but the provider did not ask the user to sign in again.',
  authentication_time_missing:
    'A recent sign-in is required, but the ID token lacks auth_time. Sign in another way, for example with a passkey.',
  claims_invalid:
    'The claims of the user are larger than 64 KiB, or the claims from the UserInfo endpoint are invalid.',
  user_unknown:
    'No user is linked to this account. Create users at their first sign-in, or link them by e-mail address.',
  email_missing: 'The provider sent no e-mail address. Request the scope email.',
  email_unverified: 'The provider does not confirm the e-mail address of the user.',
  email_taken:
    'A user with this e-mail address exists, but is not linked to this account. An administrator can allow links by e-mail address.',
  link_over: 'The invitation or reset link was used, replaced or withdrawn, or has expired.',
  linked_elsewhere: 'The user or the account already has another link. Remove that link first.',
  sign_in_over: 'The sign-in here has ended, or is older than 15 minutes. Sign in, and link the account again.',
  other_provider_required: 'Users of this domain sign in with another provider.',
  provider_changed: 'The provider was changed, disabled or deleted during the sign-in.',
  team_missing: 'The user would be in no team. Set a default team, or add a rule for a claim of the user.',
  plan_limit: 'The plan of the team allows no further members.',
} as const;

export type ProviderRefusalCode = keyof typeof providerRefusals;
