import type { Static } from 'typebox';
import { flag, orNull, shape, text } from '../http/schema.ts';

export const OriginCheck = shape(
  'OriginCheck',
  {
    origin: text('The origin that was asked for.'),
    allowed: flag('Whether packets of its pages are accepted.'),
    by: orNull(
      text(
        'The first pattern of `allowedOrigins` that allows it; `null` when none does, or when there are none.',
      ),
    ),
    why: text('The reason, for people.'),
  },
  {
    origin: 'https://www.shop.example',
    allowed: true,
    by: 'https://*.shop.example',
    why: 'https://*.shop.example allows it.',
  },
);

export type OriginCheckShown = Static<typeof OriginCheck>;
