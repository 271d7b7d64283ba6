import Type from 'typebox';
import { describeTarget } from '../accounts/applications.ts';
import type { Directory } from '../accounts/directory.ts';
import { storeUnavailable } from '../contract/errors.ts';
import { notedHeader, nothingStored } from '../contract/notes.ts';
import { type Exposure, Exposures } from '../contract/shapes/exposures.ts';
import { type Header, jsonResponse } from '../http/endpoint.ts';
import { noContent } from '../http/responses.ts';
import { columnsIn } from '../reports/exports/row-writer.ts';
import { timeText } from '../runtime/rfc3339.ts';
import { exposuresKey, oldestKept, readExposures } from '../storage/lmdb/exposures.ts';
import { findProfile } from '../storage/lmdb/instances.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { seriesName } from '../storage/lmdb/series.ts';
import { endpoint, type Group } from './endpoint.ts';
import { findEnvironment, oneEnvironment } from './environments.ts';
import { format, orInRows, respondWithRows } from './format.ts';
import { done } from './responses.ts';
import type { Services } from './services.ts';

const Noted = {
  component: 'NothingStored',
  description: '`nothing_stored` if the identity had no records; otherwise absent.',
  schema: { const: nothingStored },
} as const satisfies Header;

const forgotten = { ...done('No records of the identity remain.'), headers: { [notedHeader]: Noted } };

const exposureColumns = columnsIn(Exposures, 'exposures');

/** `/api/v2/applications/{id}/identities`. */
export const identities: Group = {
  tag: 'Identities',
  description: 'Records about individual people.',
  endpoints: [
    endpoint('GET /applications/:id/identities/:identity/exposures', {
      access: { within: 'application', least: 'User' },
      operationId: 'listExposures',
      counted: 'now',
      summary: 'List the exposures of an identity',
      description: 'The variants that an identity received. Empty for an unknown identity.',
      query: { ...oneEnvironment.query, ...format },
      responses: { 200: orInRows(jsonResponse(Exposures, 'The exposures.'), exposureColumns) },
      refuses: oneEnvironment.refuses,
      handle(call, services) {
        const { application, query } = call;
        const { identity } = call.params;
        const { name, number } = findEnvironment(application.environments, query.environment);
        const exposures = listExposures(
          services,
          number,
          services.instances.computeDigest(application.number, identity),
        );
        const shown = { identity, environment: name, exposures };
        return respondWithRows(call, shown, exposureColumns, () => exposures);
      },
    }),
    endpoint('DELETE /applications/:id/identities', {
      access: { within: 'application', least: 'Admin', recent: true },
      operationId: 'forgetIdentityByQuery',
      summary: 'Forget an identity, named in the query',
      description:
        'Like `DELETE …/identities/{identity}`, but for any identity. Clients and proxies resolve a path that ends in `.` or `..`, even if it is percent-encoded.',
      query: {
        identity: Type.String({
          minLength: 1,
          description: 'The identity: an instance id, or the identity that an application asserted.',
        }),
      },
      counted: 'now',
      responses: { 204: forgotten },
      refuses: { invalid_query: 'identity is missing', store_unavailable: storeUnavailable.dataNotKept },
      handle: ({ application, directory, query }, services) => forget(services, directory, application, query.identity),
    }),
    endpoint('DELETE /applications/:id/identities/:identity', {
      access: { within: 'application', least: 'Admin', recent: true },
      operationId: 'forgetIdentity',
      summary: 'Forget an identity',
      description:
        'The instance ids and exposures of the identity are removed in every environment before the response. Totals and counts of unique users remain: they do not identify people.',
      counted: 'now',
      responses: { 204: forgotten },
      refuses: { store_unavailable: storeUnavailable.dataNotKept },
      handle: ({ application, directory, params }, services) =>
        forget(services, directory, application, params.identity),
    }),
  ],
};

async function forget(services: Services, directory: Directory, application: Application, identity: string) {
  const isKnown = hasRecords(services, application, identity);
  await services.instances.forget(application, identity);
  const result = isKnown ? {} : { reason: nothingStored };
  // The audit log must not contain the identity.
  await directory.change((tx) =>
    tx.note('identity.forgotten', application.teamId, describeTarget(application), result),
  );
  return isKnown ? noContent : { ...noContent, headers: { [notedHeader]: nothingStored } };
}

/** True if an identity has an instance id, or exposures in an environment. */
function hasRecords({ store, instances }: Services, application: Application, identity: string): boolean {
  const digest = instances.computeDigest(application.number, identity);
  if (findProfile(store, application.number, digest) !== undefined) return true;
  store.exposures.resetReadTxn(); // Makes all writes acknowledged before this request visible.
  return application.environments.some(({ number }) => store.exposures.doesExist(exposuresKey(number, digest)));
}

/** Lists exposures. Omits expired exposures, which can still be on disk. */
function listExposures(
  { store, directory, exposureDays }: Services,
  environment: number,
  digest: Buffer,
): readonly Exposure[] {
  store.exposures.resetReadTxn(); // Makes all writes acknowledged before this request visible.
  const rows = readExposures(store, exposuresKey(environment, digest))?.rows ?? [];
  const oldest = oldestKept(directory.clock.now(), exposureDays);
  const exposures: Exposure[] = [];
  for (const [ordinal, { firstSeen, lastSeen, checks, used, viewed }] of rows) {
    const [feature, variant] = seriesName(store, environment, ordinal) ?? [];
    if (feature === undefined || variant === undefined || lastSeen < oldest) continue;
    const seen = { firstSeenAt: timeText(firstSeen * 1000), lastSeenAt: timeText(lastSeen * 1000) };
    exposures.push({ feature, variant, ...seen, checks, used, viewed });
  }
  return exposures.sort((a, b) => compare(a.feature, b.feature) || compare(a.variant, b.variant));
}

function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}
