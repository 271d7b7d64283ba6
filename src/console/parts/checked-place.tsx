import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import type { Application } from '../../contract/shapes/application.ts';
import { resource } from '../api/client.ts';
import { usePoll } from '../api/poll.ts';
import { applications, applicationsError } from '../applications.tsx';
import { NoEnvironment, NotFound } from '../pages/not-found.tsx';
import { placeOf } from '../place.ts';
import { root } from '../settings.ts';
import { Pending } from './failure.tsx';

/** Shows the page if the application and the environment of its address exist. Pages rely on that. */
export function CheckedPlace({ children }: { readonly children: ComponentChildren }) {
  const { path, query } = useLocation();
  const { application: id, environment } = placeOf(path.slice(root.length), query);
  const listed = applications.value?.find((each) => each.id === id);
  // A new application may not be listed yet.
  const asked = applications.value !== undefined && listed === undefined ? id : undefined;
  const single = usePoll<Application>(
    asked === undefined ? undefined : resource('applications', asked),
    undefined,
  );
  if (applications.value === undefined) return <Pending error={applicationsError.value} />;
  if (id === undefined) return <>{children}</>;
  const application = listed ?? single.data;
  if (application === undefined) return single.error === undefined ? null : <NotFound error={single.error} />;
  if (environment !== undefined && !application.environments.some(({ name }) => name === environment))
    return <NoEnvironment application={application} environment={environment} />;
  return <>{children}</>;
}
