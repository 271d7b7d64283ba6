/*
 * src/console/pages/settings: the settings beyond an environment. settings-page.tsx chooses the page. The other files have a page or a
 * section each, and part.tsx what they share.
 */
import { useLocation } from 'preact-iso';
import { address, useQuery } from '../../address.ts';
import { useTitle } from '../../title.ts';
import { ApplicationPage } from '../application-settings/application-page.tsx';
import { NotFound } from '../not-found.tsx';
import { Applications } from './applications.tsx';
import { Audit } from './audit.tsx';
import { Team } from './team.tsx';
import { Users } from './users.tsx';
import { WebhookPage } from './webhook-page.tsx';
import { You } from './you.tsx';

const pages: readonly (readonly [name: string, words: string])[] = [
  ['you', 'You'],
  ['applications', 'Applications'],
  ['team', 'Team'],
  ['users', 'Users'],
  ['audit', 'Audit'],
];

/** `/settings`, `/settings/:page`. */
export function Settings({ page = 'you' }: { readonly page?: string }) {
  const { path } = useLocation();
  const shown = { application: 'applications', webhook: 'team' }[page] ?? page;
  const words = pages.find(([name]) => name === page)?.[1];
  useTitle(words === undefined ? '' : `${words} · Settings`);
  return (
    <div class="settings">
      <nav class="settings-nav" aria-label="Settings">
        {pages.map(([name, words]) => (
          <a key={name} href={address('settings', name)} aria-current={name === shown ? 'page' : undefined}>
            {words}
          </a>
        ))}
      </nav>
      <div class="settings-page" key={path}>
        <Page name={page} />
      </div>
    </div>
  );
}

interface WebhookQuery {
  readonly team: string | undefined;
  readonly id: string | undefined;
}

function OneWebhook({ team, id }: WebhookQuery) {
  return team === undefined || id === undefined ? <NotFound /> : <WebhookPage key={id} team={team} id={id} />;
}

function Page({ name }: { readonly name: string }) {
  const { query } = useQuery();
  switch (name) {
    case 'you':
      return <You />;
    case 'applications':
      return <Applications />;
    case 'application':
      return query['app'] === undefined ? (
        <NotFound />
      ) : (
        <ApplicationPage key={query['app']} id={query['app']} />
      );
    case 'team':
      return <Team />;
    case 'webhook':
      return <OneWebhook team={query['team']} id={query['webhook']} />;
    case 'users':
      return <Users />;
    case 'audit':
      return <Audit />;
    default:
      return <NotFound />;
  }
}
