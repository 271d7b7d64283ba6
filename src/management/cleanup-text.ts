/*
 * The text of a pull request that removes flags, in Markdown. The console, the command line and the digest show it. Names come from
 * senders of packets, so each is a code span: no mention, link or HTML has an effect in it.
 */
import { codeSpan, replaceActive } from '../contract/escaping.ts';
import type { CleanupItem, PullRequest } from '../contract/shapes/cleanup.ts';

type Described = Omit<CleanupItem, 'pullRequest'>;

const mostInTitle = 200;
/** Maximum number of places named for a repository. */
const mostPlaces = 10;

/** The text for a flag. */
export function pullRequestOf(item: Described): PullRequest {
  const title = plain(
    `Remove the flag ${item.feature}${item.variant === null ? '' : `, keep ${item.variant}`}`,
  );
  return { title, body: `${sectionOf(item).join('\n')}\n` };
}

/** One text for several flags. */
export function pullRequestOfAll(items: readonly Described[]): PullRequest | null {
  const [only, ...others] = items;
  if (only === undefined) return null;
  if (others.length === 0) return pullRequestOf(only);
  const list = items.map((item) => `- [ ] ${codeSpan(clean(item.feature))}: ${item.nextText}`);
  const sections = items.flatMap((item) => [
    '',
    `## ${codeSpan(clean(item.feature))}`,
    '',
    ...sectionOf(item),
  ]);
  return { title: `Remove ${items.length} flags`, body: `${[...list, ...sections].join('\n')}\n` };
}

function sectionOf({ feature, variant, reasons, code, owners, nextText }: Described): readonly string[] {
  const name = codeSpan(clean(feature));
  const keep =
    variant === null
      ? [`Removes the flag ${name}: no sign of use.`]
      : [`Removes the flag ${name}. Keep the branch ${codeSpan(clean(variant))}, which everyone gets.`];
  return [
    ...keep,
    ...block('Evidence', reasons.map(reasonText)),
    ...block('Code', code.flatMap(codeLines)),
    ...block(
      'Owners',
      owners.length === 0 ? [] : [owners.map(({ name }) => codeSpan(clean(name))).join(', ')],
    ),
    ...block('Next step', [nextText]),
  ];
}

function block(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `**${title}**`, '', ...lines.map((line) => `- ${line}`)];
}

function codeLines({ repository, revision, scannedAt, count, references }: CleanupItem['code'][number]) {
  const at = `${codeSpan(clean(repository))}${revision === null ? '' : ` at ${codeSpan(clean(revision))}`}, scanned ${day(scannedAt)}`;
  if (count === 0) return [`Not found in ${at}`];
  const shown = references.slice(0, mostPlaces).map(({ path, line, url, owners }) => {
    const place = codeSpan(clean(`${path}:${line}`));
    const by = owners.length === 0 ? '' : ` (${owners.map((owner) => codeSpan(clean(owner))).join(', ')})`;
    return `${url === null ? place : `[${place}](${url.replace(/[()]/g, encodeParenthesis)})`}${by}`;
  });
  const more = count - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more in ${codeSpan(clean(repository))}`] : []), `Scan: ${at}`];
}

function encodeParenthesis(character: string): string {
  return character === '(' ? '%28' : '%29';
}

/** A reason, with its names as code spans and a short time. */
function reasonText({ text, at, names }: CleanupItem['reasons'][number]): string {
  const known = [...new Set(names)].sort((a, b) => b.length - a.length).map(escapedForPattern);
  const parts =
    known.length === 0
      ? [text]
      : text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${known.join('|')})(?![\\p{L}\\p{N}])`, 'u'));
  return parts
    .map((part, index) =>
      index % 2 === 1 ? codeSpan(clean(part)) : escaped(at === null ? part : part.replace(at, day(at))),
    )
    .join('');
}

function escapedForPattern(name: string): string {
  return name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}

/** Without markup and mentions. */
function escaped(text: string): string {
  return clean(text)
    .replace(/[\\`*_[\]<>#|~]/g, '\\$&')
    .replaceAll('@', '@\u200b');
}

/** An RFC 3339 time as a day in UTC: `14 Oct 2026`. */
function day(time: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.parse(time));
}

function clean(text: string): string {
  return replaceActive(text, () => '\ufffd');
}

function plain(text: string): string {
  const characters = Array.from(clean(text));
  return characters.length <= mostInTitle
    ? characters.join('')
    : `${characters.slice(0, mostInTitle - 1).join('')}…`;
}
