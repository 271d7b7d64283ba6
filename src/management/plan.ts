import Type from 'typebox';

export const plan = Type.Union([Type.Literal('free'), Type.Literal('team'), Type.Literal('enterprise')], {
  description:
    'How much the team may have. Unless the service runs with `--plans open`, an Admin can only lower it.',
});
