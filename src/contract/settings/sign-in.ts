import Type from 'typebox';

/** Signing in by other services. */
export const signIn = {
  issuerAllowPrivate: Type.Boolean({
    group: 'Signing in',
    value: '',
    description:
      'Allow issuers (identity providers, workload identity) at loopback, private and link-local addresses, also over http',
    default: false,
    must: 'be true or false',
  }),
};
