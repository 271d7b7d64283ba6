import { icon } from '../../src/auth/browser/pages/page.ts';

/** A row in the list of documents. */
export interface DocsEntry {
  readonly name: string;
  readonly title: string;
  /** Description of the document. */
  readonly note: string;
}

interface DocsPage {
  readonly contents: readonly DocsEntry[];
  readonly style: string;
  readonly script: string;
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

/** Returns the HTML document of a page of the docs. Its only script applies the theme chosen in the console. */
export function docsPage({ contents, style, script, name, up, title, body, sections }: DocsPage): string {
  const pages = contents.map(
    (each) =>
      `<li><a href="${up}docs/${each.name}"${each.name === name ? ' aria-current="page"' : ''}>${escaped(each.title)}</a></li>`,
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
<script src="${up}console/files/${script}"></script>
</head>
<body class="docs">
<a class="skip" href="#main">Skip to content</a>
<header class="bar">
<a class="brand" href="${up}"><svg class="logo" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 3v18M9 5h11M9 10h7M9 15h3"/></svg>flagmeter</a>
<a href="${up}docs">Docs</a>
</header>
<div class="docs-columns">
<main id="main" tabindex="-1">
${body}
</main>
${sections.length < 3 ? '' : `<nav class="docs-sections" aria-label="On this page"><h2>On this page</h2><ul>${onPage.join('\n')}</ul></nav>`}
<nav class="docs-pages" aria-label="Docs"><h2>Docs</h2><ul>${pages.join('\n')}</ul></nav>
</div>
</body>
</html>
`;
}
