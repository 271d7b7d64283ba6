import { manage, usage } from './binary.ts';

/** An application of a running service, and access to it. */
export interface Owner {
  readonly http: string;
  /** An access token for the management API. */
  readonly access: string;
  readonly application: string;
}

let created = 0;

/** Creates an environment. Its name is new even if a test is repeated. @returns the name */
export async function createEnvironment({ http, access, application }: Owner): Promise<string> {
  created += 1;
  const name = `Environment ${created}`;
  await manage(http, access, 'POST', `/api/v2/applications/${application}/environments`, 201, { name });
  return name;
}

async function readUsage({ http, access, application }: Owner, environment: string) {
  const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms)) as [Date, Date];
  return (await usage(http, access, application, { environment, step: 'hour', from, to })).features;
}

/** Returns `[variant, checks, used]` for each variant in an environment, by feature. */
export async function readCounts(owner: Owner, environment: string): Promise<Record<string, unknown>> {
  const features = await readUsage(owner, environment);
  return Object.fromEntries(
    features.map(({ feature, variants }) => [
      feature,
      variants.map(({ variant, checks, used }) => [variant, checks, used]).sort(),
    ]),
  );
}

export async function readUsers(owner: Owner, environment: string): Promise<Record<string, number>> {
  const features = await readUsage(owner, environment);
  return Object.fromEntries(features.map(({ feature, uniqueUsers }) => [feature, uniqueUsers]));
}
