import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { KeyHolder } from '../accounts/key-holder.ts';
import { ApiError } from '../errors.ts';
import { decodeText, parseJson, readBody } from '../http/body.ts';
import { contentTypeCheck } from '../http/content-type.ts';
import { problem } from '../http/problem.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import { type AdmissionDeps, admit, admitOf, takeTokens } from '../ingest/admission.ts';
import type { KeyFinder } from '../ingest/deps.ts';
import { Named } from '../ingest/named.ts';
import { personal } from '../ingest/sender-schemas.ts';
import type { Ledger, LedgerSource } from '../ledger/ledger.ts';
import type { Instances, Profile } from './instances.ts';
import { isIdentity } from './person.ts';

/** What the minting route needs of the rest of the service. */
export interface IdentityDeps extends AdmissionDeps {
  readonly keys: KeyFinder;
  readonly instances: Instances;
  readonly ledger: Ledger;
  /** Most bytes of a body, inflated. */
  readonly maxBody: number;
}

/** Whom to mint an instance id for. What the identity may be is checked by `isIdentity`. */
export const MintSchema = Type.Object({
  identity: Type.String({
    description: 'Whom the id stands for, as the application knows them.',
    ...personal,
  }),
  groups: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  claims: Type.Optional(
    Named(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      maxProperties: 50,
      description: 'What the application says of the user; any text names a claim.',
    }),
  ),
});

const checker = Compile(MintSchema);

const checkContentType = contentTypeCheck('application/json');

/** `POST /api/frontend/identities`. Only servers mint: no answer has CORS headers, and there is no preflight. */
export function identityRoutes(parts: IdentityDeps): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/frontend/identities',
      handle: (request) => receive(parts, request),
      noOptions: true,
    },
  ];
}

/**
 * Answers 200 when the id is on disk. Checked in the order 503, 401, 403, 413, 400, 429: the key is in a header, so
 * whoever has none learns nothing else, and has no body read.
 */
async function receive(parts: IdentityDeps, request: Request): Promise<Reply> {
  try {
    admit(parts);
    findHolder(parts, request.header('authorization'));
    const body = await readBody(request, parts.maxBody, parts.bodies);
    parts.bodies.release(body); // It is processed at once.
    checkContentType(request.header('content-type'));
    const profile = checkMint(parseJson(decodeText(body)));
    const holder = findHolder(parts, request.header('authorization')); // It may be deleted by now,
    admitOf(parts, holder); // or others have filled the queue while this body arrived.
    takeTokens(parts, holder.application, body.length);
    parts.keys.markUsed(holder);
    const instanceId = await parts.instances.mint(holder, profile, body.length, parts.clock.now());
    const { application } = holder;
    parts.ledger.accepted({ ...sourceOf(request), application, environment: undefined });
    return {
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: JSON.stringify({ identity: profile.identity, instanceId }),
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    parts.ledger.refused(error, sourceOf(request), {
      holder: findKey(parts, request.header('authorization')),
      origin: request.header('origin'),
    });
    return problem(error, error.status === 401 ? { 'www-authenticate': 'Bearer' } : {});
  }
}

/** A key alone, or after a scheme, which is compared without regard to case (RFC 9110, section 11.1). */
const authorization = /^\s*(?:bearer +)?(\S+)\s*$/i;

function sourceOf(request: Request): LedgerSource {
  return { route: 'identities', transport: 'http', userAgent: request.header('user-agent') };
}

function findKey({ keys }: IdentityDeps, header: string | undefined): KeyHolder | undefined {
  const text = authorization.exec(header ?? '')?.[1];
  return text === undefined ? undefined : keys.findKey(text);
}

function findHolder(parts: IdentityDeps, header: string | undefined): KeyHolder {
  const holder = findKey(parts, header);
  if (holder === undefined) {
    throw new ApiError('unknown_backend_key', 'Send the Backend key of an application in Authorization');
  }
  if (holder.key.type === 'Backend') return holder;
  throw new ApiError(
    'not_backend_key',
    'Only a Backend key mints: browsers and apps get their ids from a server',
  );
}

/** Checks a parsed body. @throws {ApiError} of status 400, saying what is wrong and where */
export function checkMint(body: unknown): Profile {
  if (!checker.Check(body)) throw explain(body);
  const { identity, groups = [], claims = {} } = body;
  if (!isIdentity(identity)) throw new ApiError('invalid_identity', identityMust);
  return { identity, groups, claims };
}

const identityMust = 'identity must have 1 to 256 characters, none of them a control character';
const groupsMust = 'groups must be an array of at most 100 strings; leave it out when there are none';
const claimsMust =
  'claims must be an object of at most 50 strings, numbers and booleans; leave it out when there are none';

function explain(body: unknown): ApiError {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return new ApiError('invalid_body', 'The body must be an object');
  }
  const [error] = checker.Errors(body);
  const field = error?.instancePath.split('/')[1];
  if (field === 'groups') return new ApiError('invalid_body', groupsMust);
  if (field === 'claims') return new ApiError('invalid_body', claimsMust);
  return new ApiError('invalid_identity', identityMust);
}
