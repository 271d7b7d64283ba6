import { root } from '../api/settings.ts';

interface HelpProps {
  /** Page of the docs and anchor of a section: `semantics#the-verdict`. A test checks that the section exists. */
  readonly to: string;
  readonly children: string;
}

/** A term with a link to the docs. The link opens in a new tab, so that the reader does not leave the page. */
export function Help({ to, children }: HelpProps) {
  return (
    <>
      {children}
      <a
        class="help"
        href={`${root}/docs/${to}`}
        target="_blank"
        rel="noopener"
        aria-label={`Help: ${children}`}
        title={`Help: ${children}`}
      >
        ?
      </a>
    </>
  );
}
