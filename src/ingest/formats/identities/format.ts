import Type from 'typebox';
import type { KeyHolder } from '../../../accounts/key-index.ts';
import { Refusal } from '../../../contract/errors.ts';
import { text } from '../../../contract/shapes/fields.ts';
import { contentTypeCheck, decodeText, parseJson, readBody } from '../../../http/body.ts';
import { ContentEncoding, type Group, type Operation, type Refusals } from '../../../http/endpoint.ts';
import { type FaultRows, shapeError } from '../../../http/json-body.ts';
import { sharedHeaders } from '../../../http/request-ids.ts';
import { problem } from '../../../http/responses.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import { compiled } from '../../../runtime/compiled.ts';
import { createHandler, exampleKeys, type Format, intakeRefusals, listExamples, readKey } from '../../declared.ts';
import { type MessageHandler, Pipeline, type PipelineDeps } from '../../pipeline.ts';
import { Named, personal } from '../../sender-schemas.ts';
import { type Instances, isIdentity, type Profile } from './instances.ts';

export interface IdentityDeps extends PipelineDeps {
  readonly instances: Instances;
  readonly maxBody: number;
}

const MintSchema = Type.Object(
  {
    identity: Type.String({ description: 'Identifier of the user within the application.', ...personal }),
    groups: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
    claims: Type.Optional(
      Named(Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
        maxProperties: 50,
        description: 'Attributes of the user, under any names. A claim that is `null` is left out.',
      }),
    ),
  },
  { component: 'Mint' },
);

const checker = compiled(MintSchema);

const checkContentType = contentTypeCheck('application/json');

const source = { route: 'identities', transport: 'http' } as const;

/** Handles requests for an instance id. The key is in a header, so a body without a known key is not read. */
function mintHandler(
  deps: IdentityDeps,
): MessageHandler<Request, Profile, { readonly holder: KeyHolder }, HttpResponse> {
  return {
    ...source,
    authorize: (request) => void findHolder(deps, request),
    address: (request) => request.remoteAddress,
    read: (request, budget) => readBody(request, deps.maxBody, budget),
    idempotencyKey: () => undefined,
    check(body, request) {
      checkContentType(request.header('content-type'));
      return checkMint(parseJson(decodeText(body)));
    },
    resolve: (_, request) => ({ holder: findHolder(deps, request) }), // The key could be deleted by now.
    count(profile, { holder: { application } }, request) {
      const { instanceId, durable } = deps.instances.mint(application, profile, deps.clock.now(), (batch) => {
        const userAgent = request.header('user-agent');
        deps.ledger.accepted({ ...source, application, environment: undefined, userAgent }, batch);
      });
      const body = JSON.stringify({ identity: profile.identity, instanceId });
      return { durable, response: { status: 200, headers: responseHeaders, body } };
    },
    refuse: (refusal) => problem(refusal, refusal.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    userAgent: (request) => request.header('user-agent'),
    origin: (request) => request.header('origin'),
    claimedSender: (_, request) => ({ appKey: readKey(request) }),
    peek: (request) => ({ appKey: readKey(request) }),
  };
}

const responseHeaders = sharedHeaders({ 'content-type': 'application/json', 'cache-control': 'no-store' });

const senderRefusals = {
  unknown_backend_key: 'Send the Backend key of an application in Authorization',
  not_backend_key: 'Minting requires a Backend key. Browsers and apps get their ids from your server',
} as const satisfies Refusals;

const refusal = (code: keyof typeof senderRefusals) => new Refusal(code, senderRefusals[code]);

function findHolder({ keys }: IdentityDeps, request: Request): KeyHolder {
  const key = readKey(request);
  const holder = key === undefined ? undefined : keys.findKey(key);
  if (holder === undefined) throw refusal('unknown_backend_key');
  if (holder.key.type === 'Backend') return holder;
  throw refusal('not_backend_key');
}

/** @throws {Refusal} of status 400 with the error and its position */
export function checkMint(body: unknown): Profile {
  removeNullClaims(body);
  if (!checker().Check(body)) throw shapeError(checker().Errors(body), { rows });
  const { identity, groups = [], claims = {} } = body;
  if (!isIdentity(identity)) throw new Refusal('invalid_identity', identityMust);
  return { identity, groups, claims: claims as Profile['claims'] };
}

/** Removes null claims before the check, because they do not count towards the limit. */
function removeNullClaims(body: unknown): void {
  const claims = (body as { readonly claims?: unknown } | null)?.claims;
  if (typeof claims !== 'object' || claims === null) return;
  for (const [name, value] of Object.entries(claims)) if (value === null) Reflect.deleteProperty(claims, name);
}

const identityMust = 'identity must have 1 to 256 characters, none of them a control character';
const groupsMust = 'groups must be an array of at most 100 strings; omit it if there are none';
const claimsMust = 'claims must be an object of at most 50 strings, numbers and booleans; omit it if there are none';

const rows: FaultRows = [
  [/^#\/properties\/groups/, 'invalid_body', groupsMust],
  [/^#\/properties\/claims/, 'invalid_body', claimsMust],
  [/^#\/(properties\/identity|required)/, 'invalid_identity', identityMust],
];

/** Declares `/api/frontend/identities`. @param maxBody maximum length of a decompressed body in bytes */
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
      bind: (deps) => createHandler(new Pipeline(deps, mintHandler(deps))),
    },
  ],
});

export const identities: Format<IdentityDeps> = {
  servers: ({ maxBody }) => [mintEndpoints(maxBody)],
  securitySchemes: {
    backendKeyAsBearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'A Backend key after `Bearer`. The key is secret. Keep it out of pages, apps and repositories.',
    },
    backendKey: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'A Backend key alone. The key is secret. Keep it out of pages, apps and repositories.',
    },
  },
};

const description = `Checked in this order: 503, 401, 403, 413, 400, 429. A refused request changes nothing.

For servers, because the Backend key is secret. Send it in \`Authorization\`, raw or after \`Bearer\`. No response has CORS headers and
\`OPTIONS\` gets 405, so calls from a page fail.

The client sends \`instanceId\` as \`i\` of its packets. It is valid in every environment of the application, and each use
extends it. Minting again for the same identity rotates it: the previous id stays valid for a while, and packets in flight
are still attributed. Only its hash is stored, so it cannot be read again.`;

const Minted = Type.Object(
  {
    identity: text('The identity as sent.'),
    instanceId: Type.String({
      minLength: 22,
      maxLength: 256,
      description: 'Opaque id, known only to you and this user. Reports do not show the id.',
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

const sent = listExamples(examples, (example) => example.sent);
const responseExamples = listExamples(examples, ({ sent: { identity } }) => ({
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
  responses: {
    200: {
      description: 'The id is minted or rotated, and on disk. Give `instanceId` to this user only.',
      headers: { 'Cache-Control': { required: true, schema: { const: 'no-store' } } },
      content: { 'application/json': { schema: Minted, examples: responseExamples } },
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
