import { noteImport } from '../accounts/applications.ts';
import { mustExist } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import { ImportedPart, ImportPart, maxPartBytes } from '../contract/shapes/import.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { ok } from '../http/responses.ts';
import type { ImportTarget } from '../ingest/formats/reports/imported-parts.ts';
import { endpoint, type Group } from './endpoint.ts';
import { findEnvironment, unknownEnvironment } from './environments.ts';

/** `/api/v2/applications/{id}/imports`. */
export const imports: Group = {
  tag: 'Imports',
  description: 'Past counts from a file.',
  endpoints: [
    endpoint('POST /applications/:id/imports', {
      access: { within: 'application', least: 'Admin' },
      operationId: 'importPart',
      summary: 'Import a part of a file with past counts',
      description:
        'A part counts once, even if it is sent repeatedly or to several nodes. Each count is added to the narrowest bucket that is kept for its time. `flagmeter import` divides a file into parts and sends them.',
      body: ImportPart,
      maxBody: maxPartBytes,
      responses: { 200: jsonResponse(ImportedPart, 'The part is counted, and on disk.') },
      refuses: { unknown_environment: unknownEnvironment, backpressure: 'Too many messages are waiting for the disk' },
      async handle({ directory, application: { id }, body }, { imports: parts }) {
        await parts.room();
        const target = findTarget(directory, id, body);
        if (body.dryRun) return ok(parts.check(target, body));
        if (body.part === 0 && !parts.has(target, body)) await noteImport(directory, id, body.environment);
        // The environment might have been deleted since the check.
        return ok(await parts.add(findTarget(directory, id, body), body));
      },
    }),
  ],
};

/** @throws {Refusal} `not_found`, `unknown_environment` */
function findTarget({ applications }: Directory, id: string, { environment }: ImportPart): ImportTarget {
  const application = mustExist('application', applications.get(id));
  return { application, environment: findEnvironment(application.environments, environment) };
}
