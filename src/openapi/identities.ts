import type { Refusals } from '../http/endpoint.ts';
import { parameterNamed } from '../http/openapi/headers.ts';
import type { Json } from '../http/openapi/json-schema.ts';
import { schemaNamed } from '../http/openapi/named-schemas.ts';
import { refusalResponses } from '../http/openapi/refusals.ts';
import { bodyRefusals } from './body-refusals.ts';
import { exampleKeys } from './headers.ts';

/** `/api/frontend/identities`. @param maxBody most bytes of a body */
export function identitiesPath(maxBody: number): Json {
  return {
    post: {
      operationId: 'mintIdentity',
      tags: ['Identities'],
      summary: 'Mint an instance id for a user',
      description: words,
      security: [{ backendKeyAsBearer: [] }, { backendKey: [] }],
      parameters: [parameterNamed('ContentEncoding')],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaNamed('Mint'), examples: shown('sent') } },
      },
      responses: {
        200: {
          description: 'Minted, or rotated, and on disk. Give `instanceId` to that user only.',
          headers: { 'Cache-Control': { required: true, schema: { const: 'no-store' } } },
          content: { 'application/json': { schema: schemaNamed('Minted'), examples: shown('answer') } },
        },
        ...refusalResponses(refusals(maxBody), (status) => (status === 401 ? challenge : {})),
      },
    },
  };
}

const words = `Checked in this order: 503, 401, 403, 413, 400, 429. What is refused has changed nothing.

For servers: the Backend key is secret and goes in \`Authorization\`, raw or after \`Bearer\`. No answer has CORS headers and
\`OPTIONS\` is answered 405, so calls from a page fail, by design.

The client sends \`instanceId\` as \`i\` of its packets. It is valid in every environment of the application, and is kept
alive by its use. Minting again for the same identity rotates it: the one before stays valid for a while, so that what is
under way is still attributed. Only its hash is stored, so no one can read it again.`;

/** How the Backend key is sent: \`components.securitySchemes\` of the document. */
export const securitySchemes = {
  backendKeyAsBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A Backend key after `Bearer`. Secret: never in a page, an app or a repository.',
  },
  backendKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'A Backend key alone. Secret: never in a page, an app or a repository.',
  },
} as const;

/** What is answered to a mint. */
export const Minted = {
  type: 'object',
  required: ['identity', 'instanceId'],
  properties: {
    identity: { type: 'string', description: 'The identity as it was sent.' },
    instanceId: {
      type: 'string',
      minLength: 22,
      maxLength: 256,
      description: 'Opaque, and a secret of that one user. It is not the identity that reports show.',
    },
  },
} as const;

const challenge = { 'WWW-Authenticate': { required: true, schema: { const: 'Bearer' } } };

const examples = {
  identity: {
    summary: 'Only an identity',
    sent: { identity: 'user-7' },
    answer: { identity: 'user-7', instanceId: exampleKeys.instance },
  },
  profile: {
    summary: 'With groups and claims',
    sent: {
      identity: 'jane@shop.example',
      groups: ['beta', 'staff'],
      claims: { plan: 'pro', seats: 12, trial: false },
    },
    answer: { identity: 'jane@shop.example', instanceId: exampleKeys.instance },
  },
};

function shown(part: 'sent' | 'answer'): Json {
  const entries = Object.entries(examples);
  return Object.fromEntries(
    entries.map(([name, { summary, ...example }]) => [name, { summary, value: example[part] }]),
  );
}

function refusals(maxBody: number): Refusals {
  return {
    ...bodyRefusals(maxBody),
    invalid_content_type: 'Send application/json, in UTF-8',
    invalid_identity: 'identity must have 1 to 256 characters, none of them a control character',
    invalid_body: 'groups must be an array of at most 100 strings; leave it out when there are none',
    unknown_backend_key: 'Send the Backend key of an application in Authorization',
    not_backend_key: 'Only a Backend key mints: browsers and apps get their ids from a server',
  };
}
