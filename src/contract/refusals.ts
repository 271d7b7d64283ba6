import { ledgerRefusals, type RefusalDescription } from './ledger-refusals.ts';

/** All refusals by their stable codes. The tables of docs/errors.md are generated from this object. */
export const refusals = {
  ...ledgerRefusals,
  too_many_points: {
    status: 400,
    title: 'The report would have too many points',
    remedy: 'Use a wider `step`, a shorter range, or a single feature or metric. A report has at most 200 000 points',
  },
  invalid_path: {
    status: 400,
    title: 'The path is not percent-encoded UTF-8, or could be resolved to another path',
    remedy: 'Percent-encode names in the path; send no `.` or `..` segment, no `\\` and no `#`',
  },
  invalid_head: {
    status: 400,
    title: 'The request head is ambiguous',
    remedy: 'Send one `Host`, and either `Content-Length` or `Transfer-Encoding: chunked`, on a new connection',
  },
  invalid_query: { status: 400, title: 'A query parameter is missing or not valid', remedy: 'See `detail`' },
  unauthorized: {
    status: 401,
    title: 'A valid bearer token is required',
    remedy:
      'Request a new token. If the server also refuses the new token, compare its `iss` and `aud` with `--auth-url` and `--base-url`',
  },
  insufficient_user_authentication: {
    status: 401,
    title: 'The sign-in is too old for this change',
    remedy:
      'Start a new sign-in with the `max_age` of `WWW-Authenticate` (RFC 9470). Repeat the request with the new token',
  },
  forbidden: {
    status: 403,
    title: 'The caller is not allowed to do this',
    remedy: 'Use credentials with the required role, scope and applications: see docs/access.md',
  },
  not_in_team: {
    status: 403,
    title: 'The resource belongs to a team that the caller is not in',
    remedy: 'Use credentials of a member (`flagmeter whoami` shows yours), or ask an Admin of the team to add the user',
  },
  plan_limit: {
    status: 403,
    title: 'The plan of the team does not allow more of these resources',
    remedy: 'Remove unused resources, or change the plan',
  },
  not_found: { status: 404, title: 'The resource does not exist', remedy: 'Check the id and the address' },
  method_not_allowed: {
    status: 405,
    title: 'The route does not allow this method',
    remedy: 'Use a method from the `Allow` header',
  },
  conflict: {
    status: 409,
    title: 'The change conflicts with the current state',
    remedy: 'Read the current state, then decide',
  },
  precondition_failed: {
    status: 412,
    title: 'The resource does not match If-Match',
    remedy: 'Read the resource again, apply your change to the new state, and send the new `ETag`',
  },
} as const satisfies Readonly<Record<string, RefusalDescription>>;

export type RefusalCode = keyof typeof refusals;
