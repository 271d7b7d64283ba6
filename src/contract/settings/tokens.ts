import Type from 'typebox';

/** The tokens that are issued. */
export const tokens = {
  serviceScope: Type.String({
    group: 'Tokens',
    value: 'SCOPE',
    description: 'Scope that stands for this service, asked for beside openid',
    default: 'flagmeter',
    // RFC 6749, section 3.3: scope-token.
    pattern: '^(?!openid$)[\\x21\\x23-\\x5B\\x5D-\\x7E]+$',
    must: 'be one word of printable ASCII without quotes or backslashes, and not openid',
  }),
  signingAlg: Type.Enum(['ES256', 'RS256', 'EdDSA'], {
    group: 'Tokens',
    value: 'ALG',
    description: 'Signs tokens: ES256, RS256 or EdDSA; another one makes a new key',
    default: 'ES256',
    must: 'be ES256, RS256 or EdDSA',
  }),
};
