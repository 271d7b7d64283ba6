import Type from 'typebox';
import { text } from '../../../contract/shapes/fields.ts';
import { ContentEncoding } from '../../../http/declared-headers.ts';
import type { Group, Operation, Refusals } from '../../../http/endpoint.ts';
import { exampleKeys, examplesOf, handlerOf, intakeRefusals } from '../../declared.ts';
import type { Format } from '../../format.ts';
import { Pipeline } from '../../pipeline.ts';
import {
  groupsMust,
  type IdentityDeps,
  identityMust,
  MintSchema,
  mintHandler,
  senderRefusals,
} from './identities.ts';

/** `/api/frontend/identities`. @param maxBody maximum length of a decompressed body in bytes */
export const mintEndpoints = (maxBody: number): Group<IdentityDeps> => ({
  tag: 'Identities',
  description: 'Instance ids that servers mint for their users.',
  endpoints: [
    {
      method: 'POST',
      path: '/api/frontend/identities',
      noOptions: true,
      access: { credential: 'Backend key in `Authorization`', who: 'Servers of the application' },
      operation: mintIdentity(maxBody),
      bind: (deps) => handlerOf(new Pipeline(deps, mintHandler(deps))),
    },
  ],
});

export const identities: Format<IdentityDeps> = {
  servers: ({ maxBody }) => [mintEndpoints(maxBody)],
  securitySchemes: {
    backendKeyAsBearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'A Backend key after `Bearer`. It is secret. Keep it out of pages, apps and repositories.',
    },
    backendKey: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'A Backend key alone. It is secret. Keep it out of pages, apps and repositories.',
    },
  },
};

const description = `Checked in this order: 503, 401, 403, 413, 400, 429. A refused request changes nothing.

For servers, because the Backend key is secret. Send it in \`Authorization\`, raw or after \`Bearer\`. No answer has CORS headers and
\`OPTIONS\` is answered 405, so calls from a page fail.

The client sends \`instanceId\` as \`i\` of its packets. It is valid in every environment of the application, and each use
extends it. Minting again for the same identity rotates it: the previous id stays valid for a while, and packets in flight
are still attributed. Only its hash is stored, so it cannot be read again.`;

const Minted = Type.Object(
  {
    identity: text('The identity as sent.'),
    instanceId: Type.String({
      minLength: 22,
      maxLength: 256,
      description: 'Opaque, and secret to that user. Reports do not show it.',
    }),
  },
  { component: 'Minted' },
);

const examples = {
  identity: { summary: 'Only an identity', sent: { identity: 'user-7' } },
  profile: {
    summary: 'With groups and claims',
    sent: {
      identity: 'jane@shop.example',
      groups: ['beta', 'staff'],
      claims: { plan: 'pro', seats: 12, trial: false },
    },
  },
};

const sent = examplesOf(examples, (example) => example.sent);
const answered = examplesOf(examples, ({ sent: { identity } }) => ({
  identity,
  instanceId: exampleKeys.instance,
}));

const mintIdentity = (maxBody: number): Operation => ({
  operationId: 'mintIdentity',
  summary: 'Mint an instance id for a user',
  description,
  security: [{ backendKeyAsBearer: [] }, { backendKey: [] }],
  parameters: [ContentEncoding],
  body: { 'application/json': { schema: MintSchema, examples: sent } },
  answers: {
    200: {
      description: 'Minted or rotated, and on disk. Give `instanceId` to that user only.',
      headers: { 'Cache-Control': { required: true, schema: { const: 'no-store' } } },
      content: { 'application/json': { schema: Minted, examples: answered } },
    },
  },
  refuses: refuses(maxBody),
  refusalHeaders: (status) =>
    status === 401 ? { 'WWW-Authenticate': { required: true, schema: { const: 'Bearer' } } } : {},
});

const refuses = (maxBody: number): Refusals => ({
  ...intakeRefusals(maxBody),
  invalid_content_type: 'Send application/json, in UTF-8',
  invalid_identity: identityMust,
  invalid_body: groupsMust,
  ...senderRefusals,
});
