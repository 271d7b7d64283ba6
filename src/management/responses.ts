import type { TSchema } from 'typebox';
import Type from 'typebox';
import { Refusal } from '../contract/errors.ts';
import type { ConsolePage } from '../contract/health.ts';
import { orNull, text } from '../contract/shapes/fields.ts';
import { type DeclaredResponse, type Header, jsonResponse, Location } from '../http/endpoint.ts';
import { entityTag } from '../http/entity-tag.ts';
import { created as createdAt, ok, type TypedResponse } from '../http/responses.ts';
import type { HttpResponse, Request } from '../http/types.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Freshness, PeopleFreshness } from '../storage/commit/usage-store.ts';
import type { Services } from './services.ts';

/** The responses of the management API: their declarations, and the results of handlers. */

const tagSchema = { type: 'string', pattern: '^"[\\w-]{22}"$' };

const EntityTag = {
  component: 'EntityTag',
  description: 'Identifies the version in the response. A later change may name it in `If-Match`.',
  required: true,
  schema: tagSchema,
} as const satisfies Header;

/** The entity tag of a user. Absent if the response is about an API key. */
export const EntityTagOfUser = {
  component: 'EntityTagOfUser',
  description: 'The entity tag of a user. Absent for an API key.',
  schema: tagSchema,
} as const satisfies Header;

const withETag = { ETag: EntityTag } as const;

/** Declares a response with one resource and its entity tag. */
export function oneTagged<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonResponse(schema, description, withETag);
}

/** Declares a response with a created resource and its location. */
export function made<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonResponse(schema, description, { Location });
}

/** Declares a response with a created resource, its location and its entity tag. */
export function madeTagged<Schema extends TSchema>(schema: Schema, description: string) {
  return jsonResponse(schema, description, { Location, ...withETag });
}

export function page<Schema extends TSchema>(schema: Schema, order: string) {
  const { example } = schema as { example?: unknown };
  const items = Type.Array(schema);
  return jsonResponse(
    Type.Object({ items, nextCursor }, { example: { items: [example], nextCursor: null } }),
    `A page of the list. ${order}`,
  );
}

const nextCursor = orNull(text('The `cursor` of the next page; `null` on the last page.'));

/** Declares a successful response without a body. */
export function done(description: string): DeclaredResponse<undefined, Record<never, Header>> {
  return { description, headers: {} };
}

/** Responds with 201, a resource and its location. @param segments path segments below `/api/v2`, not encoded */
export function created<Body>(segments: readonly string[], body: Body): TypedResponse<201, Body, 'location'> {
  return createdAt(['/api/v2', ...segments.map(encodeURIComponent)].join('/'), body);
}

/**
 * Responds with 200, a resource and its entity tag, which the client can send in a later `If-Match` (RFC 9110 §8.8.3).
 * @param version the fields that the tag identifies, if other fields change by themselves, such as the time of the last
 * packet
 */
export function tagged<Thing extends object>(thing: Thing, version: object = thing): TypedResponse<200, Thing, 'etag'> {
  return withTag(ok(thing), version);
}

/** Adds an entity tag to a response. */
export function withTag<Status extends number, Body, Header extends string>(
  { status, body, headers }: TypedResponse<Status, Body, Header>,
  version: object,
): TypedResponse<Status, Body, Header | 'etag'> {
  return { status, body, headers: { ...headers, etag: computeTag(version) } as Record<Header | 'etag', string> };
}

/**
 * Checks that the caller has read the current version of a resource (RFC 9110 §13.1.1). Call this function after the
 * last `await` before the change, so that no other change comes in between.
 * @param thing the current version, in the shape that `tagged` received
 * @throws {Refusal} `precondition_failed`
 */
export function checkMatch(request: Request, thing: object): void {
  const wanted = request.header('if-match');
  if (wanted === undefined || wanted.trim() === '*') return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (tags.includes(computeTag(thing))) return;
  throw new Refusal('precondition_failed', changedSince);
}

export const changedSince =
  'The resource has changed since you read it. Read it again, then apply your change to the new version';

function computeTag(thing: object): string {
  return entityTag(JSON.stringify(thing));
}

/** Headers that describe the completeness of reports if the service runs on several machines. */
export const freshnessHeaders = {
  'Flagmeter-Complete-Through': {
    component: 'CompleteThrough',
    description:
      'On several machines, the response includes all messages that any machine accepted before this time. On a single machine, the header is present only if the response lacks the users of the last seconds.',
    schema: { type: 'string', format: 'date-time' },
  },
  'Flagmeter-May-Be-Counting': {
    component: 'MayBeCounting',
    description:
      'On several machines, names of nodes that stopped cleanly, percent-encoded and separated by commas. If such a node has restarted without reaching PostgreSQL, the response lacks its latest counts. Absent if all nodes are running.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Header>;

/** Formats the freshness as headers; an empty object on a single machine. */
export function formatFreshness(fresh: Freshness | undefined): Record<string, string> {
  if (fresh === undefined) return {};
  const { completeThrough, mayBeCounting } = fresh;
  const names = mayBeCounting.map(encodeURIComponent).join(',');
  return {
    'flagmeter-complete-through': timeText(completeThrough),
    ...(names !== '' && { 'flagmeter-may-be-counting': names }),
  };
}

/**
 * Responds once the counts of this node are in the store. The headers report how complete the counts of other nodes
 * are.
 * @param people required completeness of the users: see `UsageStore.freshen`
 */
export async function freshly(
  { freshen }: Services,
  people: PeopleFreshness,
  respond: (call: { readonly fresh: Freshness | undefined }) => HttpResponse | Promise<HttpResponse>,
): Promise<HttpResponse> {
  const fresh = await freshen(people);
  const response = await respond({ fresh });
  return fresh === undefined ? response : { ...response, headers: { ...response.headers, ...formatFreshness(fresh) } };
}

/** Path and query of a page of the console, below its base URL. */
export function consolePath({ path, query = {} }: ConsolePage): string {
  const text = path.map((segment) => `/${encodeURIComponent(segment)}`).join('') || '/';
  const parameters = new URLSearchParams(query).toString();
  return parameters === '' ? text : `${text}?${parameters}`;
}
