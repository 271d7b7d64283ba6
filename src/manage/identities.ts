import { targetOf } from '../accounts/applications.ts';
import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import { parseQuery } from '../http/query.ts';
import type { Reply, Route } from '../http/types.ts';
import { exposuresKey, oldestKept, readExposures } from '../store/exposures.ts';
import type { Application } from '../store/records.ts';
import { seriesName } from '../store/series.ts';
import type { UsageStore } from '../store/usage.ts';
import { deleted, ok, timeText } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { findEnvironment } from './reports.ts';
import { type ApplicationCall, route } from './route.ts';

/** What the routes of identities need of the rest of the service. */
export interface IdentityDeps extends ManageDeps {
  readonly store: UsageStore;
  readonly clock: Clock;
  /** Days that exposures are kept. */
  readonly exposureDays: number;
  /** What a person's records are found by. */
  digestOf(application: Application, identity: string): Buffer;
  /** Removes what is kept of an identity; resolves when that is on disk. */
  forget(application: Application, identity: string): Promise<void>;
}

/** Which variant of a feature a person was given, when and how often. */
export interface ExposureJson {
  readonly feature: string;
  readonly variant: string;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly checks: number;
  readonly used: number;
  readonly viewed: number;
}

/**
 * `GET …/identities/{identity}/exposures?environment=`, and `DELETE …/identities/{identity}` and
 * `DELETE …/identities?identity=`, which forget a person.
 */
export function identityRoutes(parts: IdentityDeps): readonly Route[] {
  const path = '/applications/:id/identities/:identity';
  return [
    route(parts, `GET ${path}/exposures`, ({ application, request, params: { identity = '' } }) => {
      const environment = findEnvironment(
        application.environments,
        parseQuery(request.query).get('environment'),
      );
      const exposures = exposuresOf(parts, environment.number, parts.digestOf(application, identity));
      return ok({ identity, environment: environment.name, exposures });
    }),
    route(parts, `DELETE ${path}`, (call) => forget(parts, call, call.params['identity'] ?? '')),
    // No path can hold an identity `.` or `..`: clients and proxies resolve it, percent-encoded or not.
    route(parts, 'DELETE /applications/:id/identities', (call) =>
      forget(parts, call, identityIn(call.request.query)),
    ),
  ];
}

/** @throws {ApiError} `invalid_query` */
function identityIn(query: string): string {
  const identity = parseQuery(query).get('identity');
  if (identity) return identity;
  throw new ApiError('invalid_query', 'identity must say who is to be forgotten');
}

async function forget(
  { forget: forgetPerson }: IdentityDeps,
  { application, directory }: ApplicationCall,
  identity: string,
): Promise<Reply> {
  await forgetPerson(application, identity);
  // The log says that a person was forgotten, not who: it would remember them.
  await directory.change((draft) =>
    draft.note('identity.forgotten', application.teamId, targetOf(application)),
  );
  return deleted;
}

/** In the order of features and variants; what was last seen too long ago is left out, though not swept up yet. */
function exposuresOf(
  { store, clock, exposureDays }: IdentityDeps,
  environment: number,
  digest: Buffer,
): readonly ExposureJson[] {
  store.exposures.resetReadTxn(); // What was answered 202 before this request is in the answer.
  const rows = readExposures(store, exposuresKey(environment, digest))?.rows ?? [];
  const oldest = oldestKept(clock.now(), exposureDays);
  const exposures: ExposureJson[] = [];
  for (const [ordinal, { firstSeen, lastSeen, checks, used, viewed }] of rows) {
    const [feature, variant] = seriesName(store, environment, ordinal) ?? [];
    if (feature === undefined || variant === undefined || lastSeen < oldest) continue;
    const seen = { firstSeenAt: timeText(firstSeen * 1000), lastSeenAt: timeText(lastSeen * 1000) };
    exposures.push({ feature, variant, ...seen, checks, used, viewed });
  }
  return exposures.sort((a, b) => inOrder(a.feature, b.feature) || inOrder(a.variant, b.variant));
}

function inOrder(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}
