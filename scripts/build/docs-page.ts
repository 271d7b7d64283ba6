import { icon } from '../../src/auth/browser/pages/page.ts';

/** A group of documents for one kind of reader. */
export interface DocsGroup {
  readonly title: string;
  readonly entries: readonly { readonly title: string; readonly name: string }[];
}

interface DocsPage {
  readonly contents: readonly DocsGroup[];
  /** File names of the style sheet and the two scripts. */
  readonly style: string;
  readonly theme: string;
  readonly search: string;
  readonly name: string;
  /** Relative path to the root of the console, such as `../`. */
  readonly up: string;
  readonly title: string;
  /** Body of the page, as HTML. */
  readonly body: string;
  readonly sections: readonly { readonly title: string; readonly anchor: string }[];
}

/** Escapes a text for use in HTML and in quoted attributes. */
export function escaped(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => escapes[character]!);
}

/** Returns the HTML document of a page of the docs. Its scripts apply the theme chosen in the console, and search. */
export function docsPage({ contents, style, theme, search, name, up, title, body, sections }: DocsPage): string {
  const link = (entry: { title: string; name: string }) =>
    `<li><a href="${up}docs/${entry.name}"${entry.name === name ? ' aria-current="page"' : ''}>${escaped(entry.title)}</a></li>`;
  const groups = contents.map(
    ({ title, entries }) => `<h2>${escaped(title)}</h2><ul>${entries.map(link).join('\n')}</ul>`,
  );
  const onPage = sections.map((each) => `<li><a href="#${each.anchor}">${escaped(each.title)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escaped(title)} · flagmeter docs</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${up}console/files/${style}">
<script src="${up}console/files/${theme}"></script>
<script src="${up}console/files/${search}" type="module"></script>
</head>
<body class="docs">
<a class="skip" href="#main">Skip to content</a>
<header class="bar">
<a class="brand" href="${up}"><svg class="logo" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 3v18M9 5h11M9 10h7M9 15h3"/></svg>flagmeter</a>
<a href="${up}docs">Docs</a>
<search class="docs-search" hidden><input type="search" placeholder="Search the docs" aria-label="Search the docs"></search>
</header>
<div class="docs-columns">
<main id="main" tabindex="-1">
<section class="docs-results" aria-label="Search results" hidden></section>
${body}
</main>
${sections.length < 3 ? '' : `<nav class="docs-sections" aria-label="On this page"><h2>On this page</h2><ul>${onPage.join('\n')}</ul></nav>`}
<nav class="docs-pages" aria-label="Docs">${groups.join('\n')}</nav>
</div>
</body>
</html>
`;
}
