import Type from 'typebox';
import { file, whole } from './kinds.ts';

/** Signing in by other services. */
export const signIn = {
  identityProviders: Type.Optional(
    file(
      'Signing in',
      'JSON file with identity providers, which only the operator changes. It is read again after SIGHUP',
    ),
  ),
  issuerAllowPrivate: Type.Boolean({
    group: 'Signing in',
    value: '',
    description:
      'Allow issuers (identity providers, workload identity) at loopback, private and link-local addresses, also over http',
    default: false,
    must: 'be true or false',
  }),
  invitationTtl: whole('Signing in', 'Lifetime of the link for an invited user, in seconds', {
    value: 'SECONDS',
    minimum: 60,
    maximum: 7_776_000,
    default: 604_800,
  }),
};
