import Type from 'typebox';
import { judgeOrigin } from '../accounts/why-origin.ts';
import { OriginCheck } from '../contract/shapes/application.ts';
import { ok } from '../http/answer.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import { endpoint } from './endpoint.ts';

export const originCheck = endpoint('GET /applications/:id/origin-check', {
  access: { within: 'application', least: 'User' },
  operationId: 'checkOrigin',
  summary: 'Check whether the pages of an origin may send packets',
  description:
    'Says what becomes of a packet with this `Origin`, and which pattern of `allowedOrigins` allows it or why none does.',
  query: {
    origin: Type.String({
      minLength: 1,
      description: 'As a browser sends it in `Origin`: `https://shop.example`, or `null`.',
    }),
  },
  answers: { 200: jsonAnswer(OriginCheck, 'Whether it is allowed, and why.') },
  refuses: { invalid_query: 'origin is missing' },
  handle: ({ application, query: { origin } }) =>
    ok({ origin, ...judgeOrigin(application.allowedOrigins, origin) }),
});
