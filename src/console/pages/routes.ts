import type { ComponentType } from 'preact';
import type { EnvironmentPage } from '../address/address.ts';

export interface ConsoleRoute {
  /** Name of the page: the segment after the environment, or the first segment. */
  readonly page: string;
  /** Path below the root. The component has a property for each `:parameter`. */
  readonly path: string;
  /** Title of the browser tab. Pages of a single object set their own title with `useTitle`. */
  readonly title?: string;
  readonly key?: string;
  /** Loads the component. `scripts/build/console.ts` reads the literal in `import` from the source. */
  readonly load: () => Promise<ComponentType<never>>;
}

interface Tab extends ConsoleRoute {
  readonly page: EnvironmentPage;
  readonly title: string;
  readonly key: string;
}

const inEnvironment = (page: EnvironmentPage) => ({ page, path: `/apps/:application/:environment/${page}` });

export const tabs: readonly Tab[] = [
  {
    ...inEnvironment('flags'),
    title: 'Flags',
    key: 'f',
    load: () => import('./overview/overview.tsx').then(({ Overview }) => Overview),
  },
  {
    ...inEnvironment('experiments'),
    title: 'Experiments',
    key: 'e',
    load: () => import('./experiments/page.tsx').then(({ ExperimentsPage }) => ExperimentsPage),
  },
  {
    ...inEnvironment('cleanup'),
    title: 'Clean-up',
    key: 'u',
    load: () => import('./cleanup/page.tsx').then(({ CleanupPage }) => CleanupPage),
  },
  {
    ...inEnvironment('activity'),
    title: 'Activity',
    key: 'a',
    load: () => import('./activity/page.tsx').then(({ ActivityPage }) => ActivityPage),
  },
  {
    ...inEnvironment('metrics'),
    title: 'Metrics',
    key: 'm',
    load: () => import('./metrics/page.tsx').then(({ MetricsPage }) => MetricsPage),
  },
  {
    ...inEnvironment('ingest'),
    title: 'Ingest',
    key: 'i',
    load: () => import('./ingest/page.tsx').then(({ IngestPage }) => IngestPage),
  },
  {
    ...inEnvironment('people'),
    title: 'People',
    key: 'p',
    load: () => import('./people/page.tsx').then(({ PeoplePage }) => PeoplePage),
  },
  {
    ...inEnvironment('connect'),
    title: 'Connect',
    key: 'c',
    load: () => import('./first-run/connect.tsx').then(({ ConnectPage }) => ConnectPage),
  },
];

export const routes: readonly ConsoleRoute[] = [
  ...tabs,
  { page: '', path: '/', title: 'Home', key: 'h', load: () => import('./home/home.tsx').then(({ Home }) => Home) },
  {
    page: 'apps',
    path: '/apps/:application/:environment?',
    load: () => import('./application-start.tsx').then(({ ApplicationStart }) => ApplicationStart),
  },
  {
    ...inEnvironment('experiment'),
    load: () => import('./experiments/experiment.tsx').then(({ ExperimentPage }) => ExperimentPage),
  },
  { ...inEnvironment('flag'), load: () => import('./feature/feature.tsx').then(({ FeatureRoute }) => FeatureRoute) },
  {
    page: 'audit',
    path: '/audit',
    title: 'Audit log',
    key: 'l',
    load: () => import('./audit/audit.tsx').then(({ Audit }) => Audit),
  },
  {
    page: 'server',
    path: '/server',
    title: 'Server',
    load: () => import('./server/page.tsx').then(({ ServerPage }) => ServerPage),
  },
  {
    page: 'settings',
    path: '/settings/:page?',
    title: 'Settings',
    key: 's',
    load: () => import('./settings/settings-page.tsx').then(({ Settings }) => Settings),
  },
];
