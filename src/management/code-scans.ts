import type { Accounts } from '../accounts/accounts.ts';
import { sentNameRule } from '../accounts/checks.ts';
import { deleteScan, foundIn, linkTo, putScan, tooManyScans } from '../accounts/code-scans.ts';
import { type FeatureCode, NewCodeScan, CodeScan as Shown } from '../contract/shapes/code-scan.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { cutPage, namePage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application, CodeScan } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { done, page } from './responses.ts';

/** Maximum size of an uploaded scan. */
const maxBody = 4 * 1024 * 1024;

/** `/api/v2/applications/{id}/code-scans`. */
export const codeScans: Group = {
  tag: 'Code scans',
  description:
    'Places in the code that name features, and the owners of these files by CODEOWNERS. CI uploads a scan with `flagmeter features scan --upload`.',
  endpoints: [
    endpoint('GET /applications/:id/code-scans', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listCodeScans',
      summary: 'List the last code scan of each repository',
      query: paging,
      responses: { 200: page(Shown, 'Scans are sorted by repository.') },
      handle({ directory, application, query }) {
        const scans = [...directory.getScans(application.id).values()];
        const { items, nextCursor } = cutPage(scans, namePage(query), ({ repository }) => repository);
        return ok({ items: items.map(show), nextCursor });
      },
    }),
    endpoint('PUT /applications/:id/code-scans/:repository', {
      access: { within: 'application', least: 'User' },
      operationId: 'putCodeScan',
      summary: 'Replace the code scan of a repository',
      description:
        'The scan must cover the whole repository: features that the scan does not name count as missing from the code.',
      body: NewCodeScan,
      maxBody,
      responses: { 200: jsonResponse(Shown, 'The scan.') },
      refuses: { invalid_name: sentNameRule('a repository'), conflict: tooManyScans },
      handle: async ({ directory, application, params, body }) =>
        ok(show(await putScan(directory, application.id, params.repository, body))),
    }),
    endpoint('DELETE /applications/:id/code-scans/:repository', {
      access: { within: 'application', least: 'User' },
      operationId: 'deleteCodeScan',
      summary: 'Delete the code scan of a repository',
      responses: { 204: done('The scan is deleted.') },
      handle: ({ directory, application, params }) => deleteScan(directory, application.id, params.repository),
    }),
  ],
};

function show({ repository, revision, at, files, features, by }: CodeScan): Shown {
  return { repository, revision, scannedAt: timeText(at), files, features: features.length, by };
}

/** Returns the places of a feature in the code, by repository. */
export function showCode({ getScans }: Accounts, { id }: Application, feature: string): FeatureCode[] {
  const scans = [...getScans(id).values()].sort((one, other) => (one.repository < other.repository ? -1 : 1));
  return scans.map((scan) => {
    const { repository, revision, link, at, missing } = scan;
    const { count = 0, places = [] } = foundIn(scan).get(feature) ?? {};
    const [, missingSince = null] = missing.find(([name]) => name === feature) ?? [];
    return {
      repository,
      revision,
      scannedAt: timeText(at),
      count,
      references: places.map(({ path, line, owners }) => ({
        path,
        line,
        owners: [...owners],
        url: link && linkTo(link, revision, { path, line }),
      })),
      missingSince: timeText(missingSince),
    };
  });
}
