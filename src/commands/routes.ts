import { KeyedLimits } from '../admission/keyed-limits.ts';
import type { TokenSettings } from '../auth/access-token.ts';
import { createBearer } from '../auth/bearer.ts';
import { jwksRoutes } from '../auth/jwks.ts';
import { tokenRoutes } from '../auth/token-endpoint.ts';
import type { Route } from '../http/types.ts';
import { grpcWebRoutes } from '../ingest/grpc-web.ts';
import { identityRoutes as mintRoutes } from '../ingest/identities.ts';
import { metricsRoutes } from '../ingest/metrics.ts';
import { openapiRoutes } from '../ingest/openapi.ts';
import { telemetryRoutes } from '../ingest/telemetry.ts';
import { usageRoutes } from '../ingest/usage.ts';
import { applicationRoutes } from '../manage/applications.ts';
import { auditRoutes } from '../manage/audit.ts';
import { environmentRoutes } from '../manage/environments.ts';
import { type IdentityParts, identityRoutes } from '../manage/identities.ts';
import { ingestReportRoutes } from '../manage/ingest-report.ts';
import { keyRoutes } from '../manage/keys.ts';
import { reportRoutes } from '../manage/reports.ts';
import type { Core } from './core.ts';
import { type Host, type HostListener, urlOf } from './listeners.ts';

/** Every route, by its host. The listeners must be open: their ports may be part of the public URLs. */
export function routesOf(parts: Core, listeners: readonly HostListener[]): Record<Host, readonly Route[]> {
  const tls = parts.config.tlsCert !== undefined;
  const tokens: TokenSettings = {
    ...parts,
    keys: parts.signingKeys,
    issuer: parts.config.authUrl ?? urlOf(listeners, 'auth', tls),
    audience: parts.config.baseUrl ?? urlOf(listeners, 'api', tls),
  };
  const { metricsUrl, maxBody } = parts.config;
  const server = metricsUrl ?? urlOf(listeners, 'metrics', tls);
  return {
    auth: authRoutes(parts, tokens),
    api: apiRoutes(parts, tokens),
    metrics: [...ingestRoutes(parts), ...openapiRoutes({ server, maxBody })],
  };
}

function authRoutes({ config, directory }: Core, tokens: TokenSettings): readonly Route[] {
  const { serviceScope } = config;
  return [...tokenRoutes({ ...tokens, directory, serviceScope }), ...jwksRoutes(tokens.keys)];
}

function apiRoutes(
  { config, accounts, directory, usage, reports, clock, retention, instances }: Core,
  tokens: TokenSettings,
): readonly Route[] {
  const { serviceScope, exposureDays, apiRate } = config;
  const people: Pick<IdentityParts, 'digestOf' | 'forget'> = {
    digestOf: ({ number }, identity) => instances.digestOf(number, identity),
    forget: (application, identity) => instances.forget(application, identity),
  };
  const manage = {
    directory,
    authenticate: createBearer({ ...tokens, directory, serviceScope }),
    rates: new KeyedLimits(apiRate, 2 * apiRate),
  };
  return [
    ...auditRoutes({ ...manage, accounts }),
    ...applicationRoutes(manage),
    ...environmentRoutes(manage),
    ...keyRoutes(manage),
    ...reportRoutes({ ...manage, reports, clock, retention }),
    ...ingestReportRoutes({ ...manage, store: usage, clock }),
    ...identityRoutes({ ...manage, store: usage, clock, exposureDays, ...people }),
  ];
}

function ingestRoutes(parts: Core): readonly Route[] {
  const { config, clock, log, counting, receiver, instances } = parts;
  const { maxBody } = config;
  return [
    ...telemetryRoutes({ ...counting, instances, maxBody }),
    ...mintRoutes({ ...counting, instances, maxBody }),
    ...usageRoutes({ receiver, maxBody }),
    ...metricsRoutes({ receiver, maxBody }),
    ...grpcWebRoutes({ receiver, maxBody, clock, onError: (error) => log.error('a call failed', { error }) }),
  ];
}
