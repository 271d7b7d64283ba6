import { LocationProvider, Route, Router } from 'preact-iso';
import { Home } from './pages/home.tsx';
import { NotFound } from './pages/not-found.tsx';
import { Announcer } from './parts/announce.tsx';
import { Frame } from './parts/frame.tsx';
import { Shortcuts } from './parts/shortcuts.tsx';
import { SignInAgain } from './parts/sign-in-again.tsx';
import { user } from './session.ts';
import { root } from './settings.ts';

/** The whole console, once it is known who is signed in. */
export function App() {
  if (user.value === undefined) return <p class="waiting">Loading …</p>;
  return (
    <LocationProvider>
      <Frame>
        <Router>
          <Route path={`${root}/`} component={Home} />
          <Route default component={NotFound} />
        </Router>
      </Frame>
      <SignInAgain />
      <Shortcuts />
      <Announcer />
    </LocationProvider>
  );
}
