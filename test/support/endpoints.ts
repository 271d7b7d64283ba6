import { authDescription, authHost, pageTokens } from '../../src/auth/auth-host.ts';
import { tokenInvalidation } from '../../src/auth/oauth/revocation.ts';
import { consoleSession } from '../../src/console/host/console-session.ts';
import { consolePages } from '../../src/console/host/pages.ts';
import type { Endpoint, Group } from '../../src/http/endpoint.ts';
import { exposition } from '../../src/http/exposition.ts';
import { health } from '../../src/http/health.ts';
import { metricsDocument } from '../../src/ingest/host/metrics-document.ts';
import { metricsHost } from '../../src/ingest/host/metrics-host.ts';
import { description } from '../../src/management/document.ts';
import { managementApi } from '../../src/management/management-api.ts';

const pages = consolePages({
  script: '',
  style: '',
  pages: {},
  files: [],
  docs: { pages: [], files: [] },
  content: () => new Uint8Array(),
});

const list = (groups: readonly Group[]): readonly Endpoint[] => groups.flatMap(({ endpoints }) => endpoints);

/** All endpoints of the service, by host. */
export const endpoints = {
  Base: list([...managementApi, tokenInvalidation, description, pages, consoleSession, exposition]),
  Auth: list([...authHost, pageTokens, authDescription]),
  Metrics: list([...metricsHost({ maxBody: 65_536, maxReport: 4_194_304 }), metricsDocument]),
  All: list([health]),
};
