import { version } from '../../package.json' with { type: 'json' };
import { resetLinkMs } from '../accounts/invitations.ts';
import { accountEndpoints, authDescription, metadata, pageTokens, respondUnavailable } from '../auth/auth-host.ts';
import type { PageServices } from '../auth/browser/forms/posted-form.ts';
import { ConsoleCallers } from '../auth/console-session.ts';
import { discoveryOfPath } from '../auth/discovery.ts';
import { provePassword } from '../auth/factors/sign-in.ts';
import { ClientFailures, clientOrigins } from '../auth/oauth/clients.ts';
import { DeviceCodes } from '../auth/oauth/device-codes.ts';
import { tokenInvalidation } from '../auth/oauth/revocation.ts';
import type { TokenTotals } from '../auth/oauth/tokens.ts';
import {
  createBearer,
  createValidation,
  forgetInvalidated,
  isStillValid,
  VerifiedTokens,
} from '../auth/oauth/validation.ts';
import { IssuerKeys } from '../auth/oauth/workload-token.ts';
import { unavailableResponse as consoleCannotAnswer, consoleSession } from '../console/host/console-session.ts';
import { consolePages, missingPage } from '../console/host/pages.ts';
import type { ConsoleSettings } from '../contract/shapes/console.ts';
import { crossOrigin } from '../http/cross-origin.ts';
import { routesFrom } from '../http/endpoint.ts';
import { problem } from '../http/responses.ts';
import type { Handler, Route } from '../http/types.ts';
import { whenCurrent } from '../http/when-current.ts';
import { ImportedParts } from '../ingest/formats/reports/imported-parts.ts';
import { metricsDocument } from '../ingest/host/metrics-document.ts';
import { description } from '../management/document.ts';
import { managementApi } from '../management/management-api.ts';
import type { Services } from '../management/services.ts';
import { SharedFindings } from '../management/shared-findings.ts';
import { TeamFigures } from '../management/team-figures.ts';
import { RecentChanges } from '../reports/activity/change-facts.ts';
import { SharedResults } from '../reports/shared-results.ts';
import { SharedSights } from '../reports/shared-sightings.ts';
import { authority } from '../runtime/addresses.ts';
import type { BoundListeners } from './bound-listeners.ts';
import type { Core } from './core.ts';
import { type Host, publicUrls } from './listeners.ts';
import type { ServiceStatus } from './service-status.ts';

/**
 * Creates the routes of each host (without the routes in `metricsRoutes`), and the handler of unknown paths. The
 * listeners must be bound, because their ports can be part of the public URLs.
 */
export function createRoutes(
  core: Core,
  bound: BoundListeners,
  status: ServiceStatus,
  totals: TokenTotals,
): { readonly routes: Record<Host, readonly Route[]>; readonly missing: Handler } {
  const urls = publicUrls(core.config, bound.listeners);
  const tokens = createTokenServices(core, urls.auth, urls.api, totals);
  const settings = {
    version,
    baseUrl: tokens.audience,
    authUrl: tokens.issuer,
    metricsUrl: urls.metrics,
    grpcAddress: authority(bound.grpc.host, bound.grpc.port),
    retention: core.retention,
  };
  const routes = {
    auth: authRoutes(tokens),
    api: apiRoutes(core, tokens, settings, status),
    metrics: routesFrom([metricsDocument], { ...core.config, server: urls.metrics }),
  };
  return { routes, missing: missingPage(core.bundle, settings) };
}

/** Services for tokens. All routes share one invalidation list and one cache of verified tokens. */
interface TokenServices extends PageServices {
  readonly verified: VerifiedTokens;
  readonly console: ConsoleCallers;
}

function createTokenServices(core: Core, issuer: string, audience: string, totals: TokenTotals): TokenServices {
  const { accountStore, directory, clock, randomBytes, providers, issuers, providerClient, passwords } = core;
  const verified = new VerifiedTokens();
  forgetInvalidated(accountStore, verified);
  const tokens = {
    accountStore,
    directory,
    clock,
    randomBytes,
    issuer,
    audience,
    verified,
    totals,
    providers,
    issuers,
    providerClient,
    passwords,
    keys: core.signingKeys,
    serviceScope: core.config.serviceScope,
    failures: new ClientFailures(),
    rates: core.clientRates,
    issuerKeys: new IssuerKeys(core),
    devices: new DeviceCodes({ accountStore, clock, randomBytes }),
  };
  return { ...tokens, validate: createValidation(tokens), console: new ConsoleCallers(tokens) };
}

function authRoutes(tokens: TokenServices): readonly Route[] {
  const { accountStore } = tokens;
  return [
    ...forClientPages(tokens, whenCurrent(routesFrom([pageTokens], tokens), accountStore, respondUnavailable)),
    ...whenCurrent(routesFrom(accountEndpoints, tokens), accountStore, respondUnavailable),
    ...routesFrom([metadata, authDescription], tokens),
    ...discoveryOfPath(tokens),
  ];
}

function apiRoutes(
  core: Core,
  tokens: TokenServices,
  settings: ConsoleSettings,
  status: ServiceStatus,
): readonly Route[] {
  const { accountStore, bundle } = core;
  const managed = [
    ...routesFrom([tokenInvalidation], tokens),
    ...routesFrom(managementApi, createServices(core, tokens, status)),
  ];
  return [
    ...routesFrom([description], tokens),
    ...routesFrom([consolePages(bundle)], settings),
    ...whenCurrent(routesFrom([consoleSession], tokens), accountStore, consoleCannotAnswer),
    ...forClientPages(
      tokens,
      whenCurrent(caughtUp(core, managed), accountStore, (refusal) => problem(refusal)),
    ),
  ];
}

/**
 * Wraps routes that show counts of front-end threads. Each route first applies the pending updates of these threads.
 */
function caughtUp({ front }: Core, routes: readonly Route[]): readonly Route[] {
  if (front.count === 0) return routes;
  return routes.map(({ handle, ...route }) => ({
    ...route,
    handle: (...sent) => {
      front.catchUp();
      return handle(...sent);
    },
  }));
}

function createServices(core: Core, tokens: TokenServices, status: ServiceStatus): Services {
  const { config, accounts, directory, usage, reports, passwords, clock, retention, instances } = core;
  const { exposureDays, plans } = config;
  const staleAfterMs = config.staleAfter * 86_400_000;
  const freshen: Services['freshen'] = (people) => core.usageStore.freshen(people);
  return {
    directory,
    accountStore: core.accountStore,
    accounts,
    store: usage,
    reports,
    retention,
    exposureDays,
    staleAfterMs,
    plans,
    limits: config,
    consoleUrl: tokens.audience,
    webhookRules: { allowPrivate: config.webhookAllowPrivate },
    providers: core.providers,
    issuers: core.issuers,
    authUrl: tokens.issuer,
    issuerRules: { allowPrivate: config.issuerAllowPrivate },
    authenticate: createBearer(tokens, (request) => tokens.console.readClaims(request)),
    latestUnattributed: core.counting.ledger.latestUnattributed,
    status: () => status.now(),
    freshen,
    isStillValid: (claims, tx) => isStillValid(tokens, claims, tx),
    findAuthTime: ({ sid = '' }) => core.accountStore.get('sessions', sid)?.authTime,
    rates: core.apiRates,
    instances,
    overviews: new SharedResults(clock),
    recentChanges: new RecentChanges(accounts),
    teamFigures: new TeamFigures({ reports, freshen, clock }),
    findings: new SharedFindings({ directory, reports, freshen, staleAfterMs }),
    imports: new ImportedParts({ ...core.counting, retention, usageStore: core.usageStore }),
    sights: new SharedSights(reports, freshen),
    passwords,
    provePassword: (...sent) => provePassword(tokens, ...sent),
    lifetimes: { invitation: config.invitationTtl * 1000, 'reset-link': resetLinkMs },
  };
}

/** Adds CORS to routes, so that the pages of public clients can use them. */
function forClientPages({ directory, audience }: TokenServices, routes: readonly Route[]): readonly Route[] {
  return crossOrigin(routes, clientOrigins(directory, audience));
}
