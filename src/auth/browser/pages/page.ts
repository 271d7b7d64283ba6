import { createHash } from 'node:crypto';
import type { HttpResponse } from '../../../http/types.ts';
import { Html, html } from './html.ts';

/** The icon of every page: three bars at a flagpole. */
export const icon =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 24 24%22 fill=%22none%22 ' +
  'stroke=%22%235b6ee6%22 stroke-width=%223%22 stroke-linecap=%22round%22%3E' +
  '%3Cpath d=%22M4 3v18M9 5h11M9 10h7M9 15h3%22/%3E%3C/svg%3E';

interface Page {
  readonly status: number;
  readonly title: string;
  /** HTML that begins with the heading. */
  readonly content: Html;
  /** CSP sources that the form can be redirected to, in addition to this host; absent if the page has no form. */
  readonly formTargets?: readonly string[];
  /** The address that the browser opens next, absolute or relative to the page. */
  readonly refresh?: string;
  /** Value of `Set-Cookie`. */
  readonly cookie?: string | undefined;
  /** Value of `Retry-After`, seconds. */
  readonly retryAfter?: number | undefined;
  readonly script?: PageScript | undefined;
}

/** A script that a page can run, and its hash for the `Content-Security-Policy`. */
export interface PageScript {
  readonly text: string;
  readonly hash: string;
}

export function pageScript(text: string): PageScript {
  return { text, hash: hashSource(text) };
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** The logo: a flagpole with three bars. */
const logo = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.5"
stroke-linecap="round" aria-hidden="true"><path d="M4 3v18M9 5h11M9 10h7M9 15h3"/></svg>`;

/** Returns a complete page, which runs only its own script, loads nothing external, and cannot be framed or cached. */
export function pageResponse({
  status,
  title,
  content,
  formTargets,
  cookie,
  retryAfter,
  script,
  refresh,
}: Page): HttpResponse {
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
<p class="brand">${logo}flagmeter</p>
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

/** The `Content-Security-Policy` of a page. It allows the icon as an image, because some browsers require this. */
function policy(formTargets: readonly string[] | undefined, script: PageScript | undefined): string {
  const forms = formTargets === undefined ? "'none'" : ["'self'", ...formTargets].join(' ');
  return (
    `default-src 'none'; style-src ${styleHash}; ${script === undefined ? '' : `script-src ${script.hash}; `}` +
    `img-src data:; form-action ${forms}; ` +
    "frame-ancestors 'none'; base-uri 'none'"
  );
}

/** The style of all pages of the auth host: one column, light or dark by user preference, system fonts. */
const style = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f8; --card: #fff; --line: #d9dce5; --field: #767c8e;
  --text: #171a21; --soft: #565c6b;
  --accent: #3a4fcf; --accent-over: #2f41b0; --on-accent: #fff;
  --bad: #a8201a; --bad-ground: #fdf0ee; --bad-line: #eab9b4;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101217; --card: #191c23; --line: #3a404d; --field: #7d8496;
    --text: #eceef3; --soft: #a7adbb;
    --accent: #aab6ff; --accent-over: #c3cbff; --on-accent: #12162b;
    --bad: #ffb3ac; --bad-ground: #34191a; --bad-line: #6d3331;
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  min-height: 100vh; min-height: 100svh; padding: 1.5rem 1rem;
  display: grid; place-items: center;
  background: var(--ground); color: var(--text);
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
}
main {
  width: 100%; max-width: 25rem; padding: 2rem;
  background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
}
.brand { display: flex; align-items: center; gap: .5rem; margin-bottom: 1.75rem; color: var(--text); font-weight: 600; }
.brand svg { width: 1.5rem; height: 1.5rem; color: var(--accent); flex: none; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
h1 + p { margin-top: .375rem; }
p { color: var(--soft); }
strong { color: var(--text); font-weight: 600; }
.error {
  margin-top: 1.25rem; padding: .75rem .875rem; color: var(--bad);
  background: var(--bad-ground); border: 1px solid var(--bad-line); border-radius: .625rem;
}
form { display: grid; margin-top: 1.5rem; }
label { margin-bottom: .375rem; font-weight: 500; }
input, button, .button { width: 100%; min-height: 3rem; font: inherit; border-radius: .625rem; }
input {
  margin-bottom: 1.125rem; padding: .5rem .875rem;
  color: var(--text); background: var(--card); border: 1px solid var(--field);
}
input[aria-invalid] { border-color: var(--bad); }
button {
  margin-top: .375rem; padding: .5rem 1rem; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent;
}
button:hover { background: var(--accent-over); }
button.other, .button { margin-top: .75rem; color: var(--text); background: none; border-color: var(--line); font-weight: 500; }
button.other:hover, .button:hover { border-color: var(--field); }
.button { display: grid; place-items: center; padding: .5rem 1rem; border: 1px solid var(--line); text-decoration: none; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.or { margin-top: .75rem; text-align: center; }
.note { margin-top: 1.25rem; font-size: .875rem; }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--text); }
pre { margin: .75rem 0 1.25rem; white-space: pre-wrap; }
.codes { margin: 1rem 0; padding: 0; list-style: none; columns: 11rem; }
.qr { display: block; width: 12rem; max-width: 100%; margin: 1.25rem auto; border-radius: .5rem; }
a { color: var(--accent); }
@media (max-width: 30rem) {
  body { display: block; padding: 0; background: var(--card); }
  main { max-width: none; padding: 1.75rem 1.25rem; border: 0; border-radius: 0; }
}
`;

const styleHash = hashSource(style);
