import Type from 'typebox';

export const role = Type.Union([Type.Literal('Admin'), Type.Literal('User')], {
  description:
    'An Admin manages everything in their teams. A User reads everything, and writes features and metrics.',
});
