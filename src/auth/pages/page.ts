import { createHash } from 'node:crypto';
import type { Reply } from '../../http/types.ts';
import { Html, html } from './html.ts';
import { icon } from './icon.ts';
import { style } from './style.ts';

export interface Page {
  readonly status: number;
  readonly title: string;
  /** The first element is the heading. */
  readonly content: Html;
  /** Where the form may lead besides this host, as CSP sources; absent if the page has no form. */
  readonly formTargets?: readonly string[];
  /** The address, perhaps relative to the page, that the browser continues at. */
  readonly refresh?: string;
  /** `Set-Cookie`. */
  readonly cookie?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  readonly script?: PageScript | undefined;
}

/** A script that a page may run, and its hash for the policy. */
export interface PageScript {
  readonly text: string;
  readonly hash: string;
}

/** A script for the pages that need one. */
export function pageScript(text: string): PageScript {
  return { text, hash: hashOf(text) };
}

/** A source of the `Content-Security-Policy`. */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const styleHash = hashOf(style);

/** Three figures at a flagpole. */
const mark = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.5"
stroke-linecap="round" aria-hidden="true"><path d="M4 3v18M9 5h11M9 10h7M9 15h3"/></svg>`;

/** A complete page: no script but its own, no external resources, not framed, not cached. */
export function pageReply({
  status,
  title,
  content,
  formTargets,
  cookie,
  retryAfter,
  script,
  refresh,
}: Page): Reply {
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${refresh === undefined ? undefined : html`<meta http-equiv="refresh" content="0;url=${refresh}">`}
<title>${title} – flagmeter</title>
<link rel="icon" href="${new Html(icon)}">
<style>${new Html(style)}</style>
</head>
<body>
<main>
<p class="brand">${mark}flagmeter</p>
${content}
</main>
${
  script &&
  html`<script>${new Html(script.text)}</script>
`
}</body>
</html>
`;
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy(formTargets, script),
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      ...(cookie === undefined ? {} : { 'set-cookie': cookie }),
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: document.text,
  };
}

/** `Content-Security-Policy`. Some browsers treat the icon as an image. */
function policy(formTargets: readonly string[] | undefined, script: PageScript | undefined): string {
  const forms = formTargets === undefined ? "'none'" : ["'self'", ...formTargets].join(' ');
  return (
    `default-src 'none'; style-src ${styleHash}; ${script === undefined ? '' : `script-src ${script.hash}; `}` +
    `img-src data:; form-action ${forms}; ` +
    "frame-ancestors 'none'; base-uri 'none'"
  );
}
