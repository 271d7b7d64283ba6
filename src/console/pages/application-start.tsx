import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { applicationAddress, featureAddress, useQuery } from '../address/address.ts';
import { withQuery } from '../api/client.ts';
import { NotFound } from '../components/failure.tsx';
import { applications } from '../reader/reader.tsx';

/**
 * Redirects `/apps/:app` and `/apps/:app/:env` to the flags of the environment, or of the first environment. Links in
 * webhook messages have `?flag=`, which redirects to a flag.
 */
export function ApplicationStart({ application, environment }: { application?: string; environment?: string }) {
  const { flag, ...query } = useQuery().query;
  const found = applications.value?.find(({ id }) => id === application);
  if (found === undefined) return <NotFound />;
  const shown = environment ?? found.environments[0]?.name;
  if (flag !== undefined && shown !== undefined)
    return <Forward to={featureAddress({ application: found.id, environment: shown, name: flag }, query)} />;
  return <Forward to={applicationAddress(found.id, shown)} />;
}

/** Redirects to another address. Keeps the query, such as a range, unless the address has its own query. */
function Forward({ to }: { readonly to: string }) {
  const { query, route } = useLocation();
  useEffect(() => route(to.includes('?') ? to : withQuery(to, query), true), [to]);
  return null;
}
