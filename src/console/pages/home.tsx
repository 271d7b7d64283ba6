import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Application } from '../../contract/shapes/application.ts';
import { applicationSettingsAddress, environmentAddress, flagAddress, useQuery } from '../address.ts';
import { withQuery } from '../api/client.ts';
import { applications } from '../applications.tsx';
import { FirstRun } from './first-run/first-run.tsx';
import { NotFound } from './not-found.tsx';

/** What `/` shows: how to begin, the only application, or the list of them. */
export function Home() {
  const all = applications.value ?? [];
  const only = all.length === 1 ? all[0] : undefined;
  if (all.length === 0) return <FirstRun />;
  if (only !== undefined) return <Forward to={startOf(only)} />;
  return (
    <section class="applications">
      <h1>Applications</h1>
      <ul class="plain-list applications-list">
        {all.map((application) => (
          <li key={application.id}>
            <a class="applications-name" href={startOf(application)}>
              {application.name}
            </a>
            <span class="applications-environments">
              {application.environments.map(({ name }) => (
                <a key={name} href={environmentAddress(application.id, name, 'flags')}>
                  {name}
                </a>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/**
 * `/apps/:app`, and `/apps/:app/:env`: lead to the flags of the environment, or of the first one. `?flag=` leads to a flag. Messages
 * of webhooks have such links.
 */
export function ApplicationStart({
  application,
  environment,
}: {
  application?: string;
  environment?: string;
}) {
  const { flag, ...query } = useQuery().query;
  const found = applications.value?.find(({ id }) => id === application);
  if (found === undefined) return <NotFound />;
  const shown = environment ?? found.environments[0]?.name;
  if (flag !== undefined && shown !== undefined)
    return <Forward to={flagAddress({ application: found.id, environment: shown, name: flag }, query)} />;
  return <Forward to={environment ? environmentAddress(found.id, environment, 'flags') : startOf(found)} />;
}

function startOf({ id, environments }: Application): string {
  const [first] = environments;
  return first === undefined ? applicationSettingsAddress(id) : environmentAddress(id, first.name, 'flags');
}

/** The query of the address, such as a range, is kept; the address of settings has its own query. */
function Forward({ to }: { readonly to: string }) {
  const { query, route } = useLocation();
  useEffect(() => route(to.includes('?') ? to : withQuery(to, query), true), [to]);
  return null;
}
