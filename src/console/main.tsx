/*
 * src/console: the web console. It runs in the browser and uses the server's API and `src/contract`.
 * main.tsx starts it, and app.tsx chooses the page. pages/ has a folder for each page, parts/ the shared components, and api/ the
 * requests.
 */
import { render } from 'preact';
import { App } from './app.tsx';
import './theme.ts';
import { startKeys } from './keys.ts';
import { SignedIn } from './parts/sign-in-again.tsx';
import { startPrinting } from './printing.ts';
import { showSafeText } from './safe-text.ts';
import { begin, reportSignIn } from './session.ts';
import { root } from './settings.ts';
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
