import Type from 'typebox';

/** Issued tokens. */
export const tokens = {
  serviceScope: Type.String({
    group: 'Tokens',
    value: 'SCOPE',
    description: 'Scope of this service, requested in addition to openid',
    default: 'flagmeter',
    // RFC 6749, section 3.3: scope-token.
    pattern: '^(?!openid$)[\\x21\\x23-\\x5B\\x5D-\\x7E]+$',
    must: 'be one word of printable ASCII without quotes or backslashes, and not openid',
  }),
  signingAlg: Type.Enum(['ES256', 'RS256', 'EdDSA'], {
    group: 'Tokens',
    value: 'ALG',
    description: 'Algorithm for signing tokens: ES256, RS256 or EdDSA. A change creates a new key',
    default: 'ES256',
    must: 'be ES256, RS256 or EdDSA',
  }),
};
