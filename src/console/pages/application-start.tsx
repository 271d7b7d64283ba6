import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { address, applicationAddress, featureAddress, useQuery } from '../address/address.ts';
import { withQuery } from '../api/client.ts';
import { NotFound } from '../components/failure.tsx';
import { applications } from '../reader/reader.tsx';

/**
 * Redirects `/apps/:app` and `/apps/:app/:env` to the flags of the environment, or of the first environment. Links in
 * webhook messages have `?flag=` or `?page=`, which redirects to a flag or to another page.
 */
export function ApplicationStart({ application, environment }: { application?: string; environment?: string }) {
  const { flag, page, ...query } = useQuery().query;
  const found = applications.value?.find(({ id }) => id === application);
  if (found === undefined) return <NotFound />;
  const shown = environment ?? found.environments[0]?.name;
  if (flag !== undefined && shown !== undefined)
    return <Forward to={featureAddress({ application: found.id, environment: shown, name: flag }, query)} />;
  if (page !== undefined && shown !== undefined)
    return <Forward to={withQuery(address('apps', found.id, shown, page), query)} />;
  return <Forward to={withQuery(applicationAddress(found.id, shown), query)} />;
}

/** Redirects only once, because this component stays rendered, with the new query, until the other page is loaded. */
function Forward({ to }: { readonly to: string }) {
  const { route } = useLocation();
  useEffect(() => route(to, true), []);
  return null;
}
