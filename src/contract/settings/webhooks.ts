import Type from 'typebox';

/** Destinations of webhooks. */
export const webhooks = {
  webhookAllowPrivate: Type.Boolean({
    group: 'Webhooks',
    value: '',
    description: 'Allow webhooks to loopback, private and link-local addresses, also over http',
    default: false,
    must: 'be true or false',
  }),
};
