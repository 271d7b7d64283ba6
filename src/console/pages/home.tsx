import { environmentAddress } from '../address.ts';
import { applications } from '../applications.tsx';
import { Forward, startOf } from './application-start.tsx';
import { FirstRun } from './first-run/first-run.tsx';

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
