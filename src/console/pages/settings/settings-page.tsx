/*
 * src/console/pages/settings: the settings outside of applications. settings-page.tsx chooses the page. Each other file
 * has a page or a section.
 */
import { useLocation } from 'preact-iso';
import { address, useQuery } from '../../address/address.ts';
import { NotFound } from '../../components/failure.tsx';
import { useTitle } from '../../components/title.ts';
import { hasRole } from '../../reader/reader.tsx';
import { ApplicationPage } from '../application-settings/application-page.tsx';
import { Applications } from './applications.tsx';
import { SignIn } from './sign-in.tsx';
import { Team } from './team.tsx';
import { WebhookPage } from './webhooks.tsx';
import { You } from './you.tsx';

const pages = [
  { name: 'you', title: 'You', Content: You },
  { name: 'applications', title: 'Applications', Content: Applications },
  { name: 'team', title: 'Team', Content: Team },
  { name: 'sign-in', title: 'Sign-in', Content: SignIn },
] as const;

/** True if the navigation offers a page. The navigation omits pages that the API would refuse to this reader. */
function isOffered({ name }: (typeof pages)[number]): boolean {
  return name !== 'sign-in' || hasRole('Admin');
}

export function Settings({ page = 'you' }: { readonly page?: string }) {
  const { path } = useLocation();
  const shown = { application: 'applications', webhook: 'team' }[page] ?? page;
  const title = pages.find(({ name }) => name === page)?.title;
  useTitle(title === undefined ? '' : `${title} · Settings`);
  return (
    <div class="settings">
      <nav class="settings-nav" aria-label="Settings">
        {pages.filter(isOffered).map(({ name, title }) => (
          <a key={name} href={address('settings', name)} aria-current={name === shown ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <div class="settings-page" key={path}>
        <Page name={page} />
      </div>
    </div>
  );
}

function Page({ name }: { readonly name: string }) {
  const { app, team, webhook } = useQuery().query;
  if (name === 'application' && app !== undefined) return <ApplicationPage key={app} id={app} />;
  if (name === 'webhook' && team !== undefined && webhook !== undefined)
    return <WebhookPage key={webhook} team={team} id={webhook} />;
  const found = pages.find((page) => page.name === name);
  return found === undefined ? <NotFound /> : <found.Content />;
}
