import type { Note } from '../../../contract/notes.ts';
import type { LedgerEntry } from '../../../contract/shapes/ledger.ts';
import { openFeatureTargets } from './openfeature.ts';
import { openTelemetryTargets } from './opentelemetry.ts';
import { ownTargets } from './snippets.ts';
import type { Target } from './target.ts';
import { unleashTargets } from './unleash.ts';

/** What an application already uses. */
export interface Source {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  /** What its targets are. */
  readonly choice: string;
  readonly targets: readonly Target[];
  /** True if its senders have tokens of Unleash instead of keys. */
  readonly adoptsTokens: boolean;
  /** What the page waits for. */
  readonly message: string;
  /** How long the page waits before it shows all possible reasons, ms. */
  readonly patienceMs: number;
  /** True if a request came from a sender of this kind. */
  readonly sent: (route: LedgerEntry['route'], userAgent: string | null) => boolean;
  /** Advice in place of the usual one, by code. */
  readonly advice: Readonly<Record<string, Note>>;
  /** Reasons why nothing of it reaches the server. */
  readonly hints: readonly string[];
  /** What it never reports. */
  readonly omits?: string;
}

const ownPackage = /flagmeter-openfeature/;

const unknownKey: Note = {
  meaning: 'A message had an unknown key.',
  remedy: 'Copy the key of step 2 again. The key sent is incomplete, misspelt or revoked.',
};

const blocked =
  "In a browser, an ad blocker or the page's Content-Security-Policy may block the request. The developer tools show it.";

/** The kinds of senders to choose from. */
export const sources: readonly Source[] = [
  {
    id: 'unleash',
    label: 'I use Unleash',
    hint: 'A rule for your proxy. Services need no change.',
    choice: 'Proxy',
    targets: unleashTargets,
    adoptsTokens: true,
    message: 'a message of an Unleash SDK',
    patienceMs: 90_000,
    sent: (route) => route === 'unleash',
    advice: {
      unknown_key: {
        meaning: 'An SDK sent a token that no application has adopted.',
        remedy:
          'Adopt this token in step 2. Pages and apps need a Frontend token. The SDK for Node sends the counts again; most others discard them.',
      },
      unknown_environment: {
        meaning: 'The environment that the token was adopted for was deleted.',
        remedy: 'Delete the key in the settings of the application, and adopt the token again.',
      },
    },
    hints: [
      'SDKs report about once a minute, and only flags that were checked.',
      'The log of the proxy shows whether /api/client/metrics is passed on, and the answer.',
    ],
    omits: 'Unleash does not report use and views: they stay 0.',
  },
  {
    id: 'openfeature',
    label: 'I use OpenFeature',
    hint: 'A package for its JavaScript SDKs.',
    choice: 'Program',
    targets: openFeatureTargets,
    adoptsTokens: false,
    message: 'a message of the package',
    patienceMs: 30_000,
    sent: (route, userAgent) => route === 'telemetry' || ownPackage.test(userAgent ?? ''),
    advice: { unknown_key: unknownKey },
    hints: ['The package sends ten seconds after the first evaluation of a flag.', blocked],
  },
  {
    id: 'opentelemetry',
    label: 'I use OpenTelemetry',
    hint: 'Settings of your exporter or collector.',
    choice: 'Exporter',
    targets: openTelemetryTargets,
    adoptsTokens: false,
    message: 'a request of an exporter',
    patienceMs: 90_000,
    sent: (route) => route === 'otlp',
    advice: {
      unknown_key: unknownKey,
      unknown_environment: {
        meaning: 'The resource names no environment of the application.',
        remedy: 'Set deployment.environment.name as in step 3, or create that environment.',
      },
    },
    hints: [
      'Exporters send metrics once a minute, and log events after some seconds.',
      'The SDK of the service must have a provider of logs or metrics, and evaluate a flag.',
    ],
    omits: 'OpenTelemetry does not report use and views: they stay 0.',
  },
  {
    id: 'own',
    label: 'I write my own',
    hint: 'A request from a page, an app or a server.',
    choice: 'Language',
    targets: ownTargets,
    adoptsTokens: false,
    message: 'a packet or a report',
    patienceMs: 30_000,
    sent: (route, userAgent) =>
      ['telemetry', 'usage', 'metrics'].includes(route) && !ownPackage.test(userAgent ?? ''),
    advice: { unknown_key: unknownKey },
    hints: ['Does the sender print an answer? If not, its machine cannot reach the server.', blocked],
  },
];
