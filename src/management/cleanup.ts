import Type from 'typebox';
import type { Accounts } from '../accounts/accounts.ts';
import { ownersOf, showOwned } from '../accounts/owners.ts';
import { Cleanup, type CleanupItem, maxCleanup } from '../contract/shapes/cleanup.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import { type Columns, columnsIn } from '../reports/exports/columns.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import type { CleanupFound, Removable } from '../reports/verdicts/cleanup-report.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { pullRequestOf, pullRequestOfAll } from './cleanup-text.ts';
import { showCode } from './code-scans.ts';
import { endpoint, type Group } from './endpoint.ts';
import { anyEnvironment, findEnvironments } from './environments.ts';
import { stalenessOf } from './feature-detail.ts';
import { answerRows, format, orInRows } from './format.ts';

const { nextText: _, pullRequest: __, ...plainColumns } = columnsIn(Cleanup, 'items');

const columns: Columns = {
  ...plainColumns,
  owners: { description: 'Names of its owners.', example: ['Ada Lovelace'] },
  tags: { description: 'Words to find it by.', example: ['checkout'] },
  code: { description: 'The first places in the code.', example: ['shop/web src/cart.ts:12'] },
  reasons: { description: 'Evidence, as sentences.', example: ['No packet and no report has named it.'] },
};

/** `/api/v2/applications/{id}/cleanup`. */
export const cleanup: Group = {
  tag: 'Clean-up',
  description: 'The features that can be removed from the code.',
  endpoints: [
    endpoint('GET /applications/:id/cleanup', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'cleanUp',
      counted: 'recent',
      summary: 'List the features that can go, with evidence and text for a pull request',
      description:
        'Features that are safe to remove, or that always have the same variant. Archived features are left out: the team is done with them. So are undeclared names with one variant, which may be misspelt. Without `environment`, the verdicts cover all environments.',
      query: {
        ...anyEnvironment.query,
        feature: Type.Optional(
          Type.Array(Type.String(), {
            maxItems: maxCleanup,
            description: 'Only this feature. Repeat the parameter for several.',
          }),
        ),
        ...format,
      },
      answers: { 200: orInRows(jsonAnswer(Cleanup, 'The features.'), columns) },
      refuses: { ...anyEnvironment.refuses, backpressure: tooManyReports },
      async handle(call, services) {
        const { directory, application, query } = call;
        const declared = [...directory.featuresOf(application.id).values()];
        const environments = findEnvironments(application.environments, query.environment);
        const only = query.feature && { only: new Set(query.feature) };
        const task = { environments, declared, ...only, ...stalenessOf(services) };
        const found = await services.reports.make(application.teamId, 'cleanup', task);
        const shown = showCleanup(directory, application, found, task.now);
        return answerRows(call, shown, columns, ({ items }) => items.map(asRow));
      },
    }),
  ],
};

/** The features that can go, as in the API. */
function showCleanup(
  accounts: Accounts,
  application: Application,
  { removable, total, kept, keptTotal }: CleanupFound,
  now: number,
): Cleanup {
  const declared = accounts.featuresOf(application.id);
  const items = removable.map((each) => showItem(accounts, application, each));
  return {
    at: timeText(now),
    items: items.map((item) => ({ ...item, pullRequest: pullRequestOf(item) })),
    total,
    blocked: kept.map(({ feature, kind, why }) => ({
      feature,
      verdict: kind,
      why,
      owners: [...ownersOf(accounts, application, feature, declared.get(feature)).owners],
    })),
    blockedTotal: keptTotal,
    pullRequest: pullRequestOfAll(items),
  };
}

function showItem(
  accounts: Accounts,
  application: Application,
  { feature, kind, since, variant, environments, declared, reasons }: Removable,
): Omit<CleanupItem, 'pullRequest'> {
  const declaration = accounts.featuresOf(application.id).get(feature);
  const code = showCode(accounts, application, feature);
  const isFound = code.some(({ count }) => count > 0);
  // A feature that is still checked, and that no scan has ever found, is in code that is not scanned.
  const wasFound =
    variant === null ? code.length > 0 : code.some(({ missingSince }) => missingSince !== null);
  const isGone = wasFound && !isFound;
  const next = isGone ? 'archive' : variant === null ? 'remove' : 'keep_variant';
  return {
    feature,
    verdict: kind,
    since,
    variant,
    next,
    nextText: nextTexts[next],
    environments: [...environments],
    declared,
    ...showOwned(declaration, ownersOf(accounts, application, feature, declaration)),
    reasons: [...reasons],
    code,
  };
}

const nextTexts: Readonly<Record<CleanupItem['next'], string>> = {
  remove: 'Remove it from the code, then archive it.',
  keep_variant: 'Keep the branch of its variant, remove the flag, then archive it.',
  archive: 'The code no longer names it: archive it.',
};

function asRow({ owners, code, reasons, ...item }: CleanupItem): object {
  const places = code.flatMap(({ repository, references }) =>
    references.map(({ path, line }) => `${repository} ${path}:${line}`),
  );
  return {
    ...item,
    owners: owners.map(({ name }) => name),
    code: places,
    reasons: reasons.map(({ text }) => text),
  };
}
