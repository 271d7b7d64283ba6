import type { TProperties, TSchema } from 'typebox';
import { missing } from '../accounts/checks.ts';
import { Unauthorized } from '../auth/oauth/validation.ts';
import { postgresUnavailable, storeUnavailable } from '../contract/errors.ts';
import { bodyRefusals } from '../http/body.ts';
import {
  Challenge,
  ContentEncoding,
  type DeclaredAnswers,
  jsonContent,
  NotCached,
  type Operation,
  type Parameter,
  type Refusals,
} from '../http/endpoint.ts';
import { tooLarge } from '../http/engines/limits.ts';
import { maxJsonBody } from '../http/json-body.ts';
import { maxLimit } from '../http/lists.ts';
import { queryParameters } from '../http/query-reader.ts';
import { pathNotUtf8 } from '../http/router.ts';
import type { PeopleFreshness } from '../storage/commit/usage-store.ts';
import {
  type Access,
  holders,
  installationAdminsOnly,
  notInTeam,
  requires,
  SignInTooOld,
  tooManyRequests,
} from './access.ts';
import { changedSince } from './answers.ts';
import { freshnessHeaders } from './freshly.ts';

/** The part of a declaration that is in the document. */
export interface Described {
  readonly access: Access;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: TProperties;
  readonly body?: TSchema | undefined;
  /** Whether the body may be empty. */
  readonly bodyOptional?: true;
  /** Maximum decompressed length of the body in bytes. */
  readonly maxBody?: number;
  /** Whether the handler calls `checkMatch`. */
  readonly matches?: true;
  /** Whether `If-None-Match` is read. */
  readonly remembers?: true;
  /** Set if the answer has counts: how complete its users must be. See `freshly`. */
  readonly counted?: PeopleFreshness;
  readonly answers: DeclaredAnswers;
  /** Further refusals, or other details for the implied ones, each with an example of the detail. */
  readonly refuses?: Refusals;
}

/** An endpoint in the OpenAPI document. Method, path and access imply the rest. */
export function describeEndpoint(method: string, path: string, declared: Described): Operation {
  const { operationId, summary, description, query, body, matches, remembers, answers, refuses } = declared;
  return {
    operationId,
    summary,
    description: [description, `For ${callers(declared.access)}.`].filter(Boolean).join('\n\n'),
    parameters: [
      ...pathParameters(path, declared.access),
      ...queryParameters(query ?? {}),
      ...(matches ? [IfMatch] : []),
      ...(remembers ? [IfNoneMatch] : []),
      ...(body ? [ContentEncoding] : []),
    ],
    ...(body && { body: jsonContent(body) }),
    ...(declared.bodyOptional && { bodyOptional: true as const }),
    answers: Object.fromEntries(
      Object.entries(answers).map(([status, { headers, ...rest }]) => [
        status,
        {
          ...rest,
          headers: {
            ...headers,
            ...(declared.counted && status === '200' && freshnessHeaders),
            'Cache-Control': NotCached,
          },
        },
      ]),
    ),
    refuses: { ...usualRefusals(method, path, declared), ...refuses },
    refusalHeaders: (status) => (status === 401 ? { 'WWW-Authenticate': Challenge } : {}),
  };
}

const IfMatch: Parameter = {
  component: 'IfMatch',
  name: 'If-Match',
  in: 'header',
  description:
    'The `ETag` of the version that the caller has read. The change is made only if this is still the current version. Without it, or with `*`, the change is always made.',
  schema: { type: 'string' },
};

const IfNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the answer that the caller has.',
  schema: { type: 'string' },
};

function callers({ within, least, orSelf }: Access): string {
  const who =
    least === 'Viewer'
      ? 'everybody'
      : holders(least)
          .map((role) => `${role}s`)
          .join(' and ');
  return `${who}${places[within]}${orSelf ? ', and for the user themself' : ''}`;
}

const places = {
  service: '',
  installation: ' of the first team',
  application: " in the application's team",
  team: ' in the team',
  user: ' in a team of the user',
} as const;

function pathParameters(path: string, { within }: Access): readonly Parameter[] {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name);
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: inPath[name] ?? `Id of the ${within}.`,
    schema: { type: 'string', minLength: 1 },
  }));
}

const inPath: Readonly<Record<string, string>> = {
  name: 'Name of the environment.',
  keyId: 'Id of the key.',
  feature: 'Name of the feature.',
  metric: 'Name of the metric.',
  identity: 'The identity, as minted or asserted.',
  userId: 'Id of the user.',
  clientId: 'Client id.',
  signInId: 'Id of the sign-in.',
  webhookId: 'Id of the webhook.',
  deliveryId: 'Id of the delivery.',
  providerId: 'Id of the identity provider.',
  identityId: 'Id of the linked account.',
};

/** The refusals that method, path and access imply. */
function usualRefusals(method: string, path: string, declared: Described): Refusals {
  const { access, query, body, maxBody = maxJsonBody, matches } = declared;
  const { within, least, recent } = access;
  return {
    ...(path.includes(':') && { invalid_path: pathNotUtf8 }),
    ...(query && { invalid_query: `limit must be an integer from 1 to ${maxLimit}` }),
    ...(body && {
      ...bodyRefusals,
      invalid_body: 'Field colour is unknown',
      body_too_large: tooLarge(maxBody).message,
    }),
    unauthorized: new Unauthorized(false).message,
    ...(recent && { insufficient_user_authentication: new SignInTooOld().message }),
    ...(least !== 'Viewer' && {
      forbidden: within === 'installation' ? installationAdminsOnly : requires(least),
    }),
    ...(within !== 'service' &&
      within !== 'installation' && { not_found: missing(within), not_in_team: notInTeam[within] }),
    ...(matches && { precondition_failed: changedSince }),
    rate_limited: tooManyRequests,
    engine_unavailable: postgresUnavailable,
    ...(method !== 'GET' && {
      store_unavailable: storeUnavailable.changeNotKept,
    }),
  };
}
