import Type from 'typebox';

/** Where webhooks may lead. */
export const webhooks = {
  webhookAllowPrivate: Type.Boolean({
    group: 'Webhooks',
    value: '',
    description:
      'Let webhooks reach networks of your own, also by http: loopback, private and link-local addresses',
    default: false,
    must: 'be true or false',
  }),
};
