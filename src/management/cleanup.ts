import Type from 'typebox';
import type { Accounts } from '../accounts/accounts.ts';
import { findOwners, showOwned } from '../accounts/owners.ts';
import { codeSpan, replaceActive } from '../contract/escaping.ts';
import { Cleanup, type CleanupItem, maxCleanup, type PullRequest } from '../contract/shapes/cleanup.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { type Columns, columnsIn } from '../reports/exports/row-writer.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import type { CleanupResult, Removable } from '../reports/verdicts/cleanup-report.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { showCode } from './code-scans.ts';
import { endpoint, type Group } from './endpoint.ts';
import { anyEnvironment, findEnvironments } from './environments.ts';
import { getStaleness } from './features.ts';
import { format, orInRows, respondWithRows } from './format.ts';

const { nextText: _, pullRequest: __, ...plainColumns } = columnsIn(Cleanup, 'items');

const columns: Columns = {
  ...plainColumns,
  owners: { description: 'Names of the owners.', example: ['Ada Lovelace'] },
  tags: { description: 'Tags of the feature.', example: ['checkout'] },
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
      counted: 'any',
      summary: 'List the removable features, with evidence and text for a pull request',
      description:
        'Features that are safe to remove, or that always have the same variant. Archived features are omitted, because the team no longer uses these features. Undeclared names with one variant are also omitted, because an undeclared name can be a misspelling. Without `environment`, the verdicts cover all environments.',
      query: {
        ...anyEnvironment.query,
        feature: Type.Optional(
          Type.Array(Type.String(), {
            maxItems: maxCleanup,
            description: 'Only this feature. Repeat the parameter for several features.',
          }),
        ),
        ...format,
      },
      responses: { 200: orInRows(jsonResponse(Cleanup, 'The features.'), columns) },
      refuses: { ...anyEnvironment.refuses, backpressure: tooManyReports },
      async handle(call, services) {
        const { directory, application, query } = call;
        const declared = [...directory.getFeatures(application.id).values()];
        const environments = findEnvironments(application.environments, query.environment);
        const only = query.feature && { only: new Set(query.feature) };
        const task = { environments, declared, ...only, ...getStaleness(services) };
        const found = await services.reports.make(application.teamId, 'cleanup', task);
        const shown = showCleanup(directory, application, found, task.now);
        return respondWithRows(call, shown, columns, ({ items }) => items.map(asRow));
      },
    }),
  ],
};

/** Formats the removable features for a response. */
function showCleanup(
  accounts: Accounts,
  application: Application,
  { removable, total, kept, keptTotal, history }: CleanupResult,
  now: number,
): Cleanup {
  const declared = accounts.getFeatures(application.id);
  const items = removable.map((each) => showItem(accounts, application, each));
  return {
    at: timeText(now),
    items: items.map((item) => ({ ...item, pullRequest: createPullRequest(item) })),
    total,
    history: [...history],
    blocked: kept.map(({ feature, kind, why }) => ({
      feature,
      verdict: kind,
      why,
      owners: [...findOwners(accounts, application, feature, declared.get(feature)).owners],
    })),
    blockedTotal: keptTotal,
    pullRequest: createJointPullRequest(items),
  };
}

function showItem(
  accounts: Accounts,
  application: Application,
  { feature, kind, since, variant, environments, declared, reasons }: Removable,
): Omit<CleanupItem, 'pullRequest'> {
  const declaration = accounts.getFeatures(application.id).get(feature);
  const code = showCode(accounts, application, feature);
  const isFound = code.some(({ count }) => count > 0);
  // If a feature is still checked but no scan has found it, it is used in code that is not scanned.
  const wasFound = variant === null ? code.length > 0 : code.some(({ missingSince }) => missingSince !== null);
  const isGone = wasFound && !isFound;
  const next = isGone ? 'archive' : variant === null ? 'remove' : 'keep_variant';
  return {
    feature,
    verdict: kind,
    since,
    variant,
    next,
    nextText: formatNext({ next, variant }, (name) => name),
    environments: [...environments],
    declared,
    ...showOwned(declaration, findOwners(accounts, application, feature, declaration)),
    reasons: [...reasons],
    code,
  };
}

type Step = Pick<CleanupItem, 'next' | 'variant'>;

function formatNext({ next, variant }: Step, format: (name: string) => string): string {
  if (next === 'archive') return 'The code no longer names the flag: archive the flag.';
  const keep = next === 'remove' || variant === null ? '' : `Keep the branch of the variant ${format(variant)}. `;
  return `${keep}Remove the flag from the code, then archive the flag.`;
}

function asRow({ owners, code, reasons, ...item }: CleanupItem): object {
  const places = code.flatMap(({ repository, references }) =>
    references.map(({ path, line }) => `${repository} ${path}:${line}`),
  );
  return { ...item, owners: owners.map(({ name }) => name), code: places, reasons: reasons.map(({ text }) => text) };
}

/*
 * The Markdown text of a pull request that removes flags, for the console, the command line and the digest. Senders of
 * packets choose the names, so each name is a code span, in which mentions, links and HTML have no effect.
 */

type ItemFacts = Omit<CleanupItem, 'pullRequest'>;

const asCode = (name: string) => codeSpan(clean(name));

const mostInTitle = 200;
/** Maximum number of listed places per repository. */
const mostPlaces = 10;

/** Creates the text for one flag. */
export function createPullRequest(item: ItemFacts): PullRequest {
  const title = plain(`Remove the flag ${item.feature}${item.variant === null ? '' : `, keep ${item.variant}`}`);
  return { title, body: `${formatSection(item).join('\n')}\n` };
}

/** Creates one text for several flags. */
export function createJointPullRequest(items: readonly ItemFacts[]): PullRequest | null {
  const [only, ...others] = items;
  if (only === undefined) return null;
  if (others.length === 0) return createPullRequest(only);
  const list = items.map((item) => `- [ ] ${asCode(item.feature)}: ${formatNext(item, asCode)}`);
  const sections = items.flatMap((item) => ['', `## ${asCode(item.feature)}`, '', ...formatSection(item)]);
  return { title: `Remove ${items.length} flags`, body: `${[...list, ...sections].join('\n')}\n` };
}

function formatSection(item: ItemFacts): readonly string[] {
  const { feature, variant, reasons, code, owners } = item;
  const name = asCode(feature);
  const keep =
    variant === null
      ? [`Removes the flag ${name}: no sign of use.`]
      : [`Removes the flag ${name}. Keep the branch ${asCode(variant)}, which everyone gets.`];
  return [
    ...keep,
    ...block('Evidence', reasons.map(reasonText)),
    ...block('Code', code.flatMap(codeLines)),
    ...block('Owners', owners.length === 0 ? [] : [owners.map(({ name }) => asCode(name)).join(', ')]),
    ...block('Next step', [formatNext(item, asCode)]),
  ];
}

function block(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `**${title}**`, '', ...lines.map((line) => `- ${line}`)];
}

function codeLines({ repository, revision, scannedAt, count, references }: CleanupItem['code'][number]) {
  const at = `${asCode(repository)}${revision === null ? '' : ` at ${asCode(revision)}`}, scanned ${day(scannedAt)}`;
  if (count === 0) return [`Not found in ${at}`];
  const shown = references.slice(0, mostPlaces).map(({ path, line, url, owners }) => {
    const place = asCode(`${path}:${line}`);
    const by = owners.length === 0 ? '' : ` (${owners.map(asCode).join(', ')})`;
    return `${url === null ? place : `[${place}](${url.replace(/[()]/g, encodeParenthesis)})`}${by}`;
  });
  const more = count - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more in ${asCode(repository)}`] : []), `Scan: ${at}`];
}

function encodeParenthesis(character: string): string {
  return character === '(' ? '%28' : '%29';
}

/** Formats a reason, with names as code spans and the time as a day. */
function reasonText({ text, at, names }: CleanupItem['reasons'][number]): string {
  const known = [...new Set(names)].sort((a, b) => b.length - a.length).map(escapedForPattern);
  const parts =
    known.length === 0
      ? [text]
      : text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${known.join('|')})(?![\\p{L}\\p{N}])`, 'u'));
  return parts
    .map((part, index) => (index % 2 === 1 ? asCode(part) : escaped(at === null ? part : part.replace(at, day(at)))))
    .join('');
}

function escapedForPattern(name: string): string {
  return name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}

/** Escapes markup and mentions. */
function escaped(text: string): string {
  return clean(text)
    .replace(/[\\`*_[\]<>#|~]/g, '\\$&')
    .replaceAll('@', '@\u200b');
}

/** Formats an RFC 3339 time as a day in UTC: `14 Oct 2026`. */
function day(time: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.parse(time));
}

function clean(text: string): string {
  return replaceActive(text, () => '\ufffd');
}

function plain(text: string): string {
  const characters = Array.from(clean(text));
  return characters.length <= mostInTitle ? characters.join('') : `${characters.slice(0, mostInTitle - 1).join('')}…`;
}
