/*
 * src/console: the web console. It runs in the browser and uses the server's API and `src/contract`. main.tsx starts
 * it, and app.tsx chooses the page. frame/ is the frame around each page, with the dialog in search/. pages/ has the
 * table of pages and a folder for each page, components/ the shared components, reader/ the state of the user, address/
 * the addresses, text/ the formats, api/ the requests, and styles/ the style sheets and themes.
 */
import { render } from 'preact';
import { App } from './app.tsx';
import './styles/theme.ts';
import { begin, reportSignIn } from './api/session.ts';
import { root } from './api/settings.ts';
import { startKeys } from './components/shortcuts.tsx';
import { SignedIn } from './frame/sign-in-again.tsx';
import { startPrinting } from './styles/printing.ts';
import { showSafeText } from './text/safe-text.ts';
import './styles/console.css';

showSafeText();

const place = document.getElementById('console')!;

if (location.pathname === `${root}/console/signed-in`) {
  reportSignIn();
  render(<SignedIn />, place);
} else {
  render(<App />, place);
  startKeys();
  startPrinting();
  void begin();
}
