import Type from 'typebox';
import { notedHeader } from '../../../contract/notes.ts';
import { ContentEncoding, type Endpoint, type Group, type Operation, type Refusals } from '../../../http/endpoint.ts';
import {
  acceptedHeaders,
  cors,
  createHandler,
  type Format,
  intakeRefusals,
  Noted,
  preflightEndpoint,
} from '../../declared.ts';
import { Pipeline } from '../../pipeline.ts';
import type { UnleashKind } from './message.ts';
import { originRefusal, senderRefusals, type UnleashDeps, unleashHandler } from './unleash.ts';

/** Declares Unleash's routes for servers and Unleash Edge. @param maxReport maximum decompressed length in bytes */
const clientEndpoints = (maxReport: number): Group<UnleashDeps> => ({
  tag: 'Unleash',
  description:
    'Reports of Unleash SDKs and Unleash Edge, with the tokens that they already have. See `docs/sources.md`.',
  endpoints: [
    endpoint('/api/client/metrics', 'metrics', maxReport, false),
    endpoint('/api/client/metrics/bulk', 'bulk', maxReport, false),
    endpoint('/api/client/register', 'register', maxReport, false),
  ],
});

const pageEndpoints = (maxBody: number): Group<UnleashDeps> => ({
  tag: 'Unleash in pages',
  description: 'Reports of Unleash SDKs in pages and apps.',
  endpoints: (['metrics', 'register'] as const).flatMap((kind) => {
    const path = `/api/frontend/client/${kind}`;
    const preflight = preflightEndpoint(path, `preflightUnleash${capital(kind)}`, requestHeaders);
    return [endpoint(path, kind, maxBody, true), preflight];
  }),
});

export const unleash: Format<UnleashDeps> = {
  pages: ({ maxBody }) => [pageEndpoints(maxBody)],
  servers: ({ maxReport }) => [clientEndpoints(maxReport)],
  securitySchemes: {
    unleashToken: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'A token of Unleash that was adopted as a key of an application.',
    },
  },
};

function endpoint(path: string, kind: UnleashKind, limit: number, forPages: boolean): Endpoint<UnleashDeps> {
  return {
    method: 'POST',
    path,
    ...(!forPages && { noOptions: true as const }),
    access: {
      credential: 'Adopted token in `Authorization`',
      who: forPages
        ? 'Pages of the allowed origins and apps, with a Frontend or Mobile key'
        : 'Servers of the application',
    },
    operation: describeOperation(kind, limit, forPages),
    bind: (deps) => createHandler(new Pipeline(deps, unleashHandler(deps, kind, forPages))),
  };
}

const requestHeaders = [
  ...['authorization', 'content-type', 'content-encoding'],
  ...['appname', 'connection-id', 'instanceid', 'interval', 'sdk'].flatMap((name) => [
    `unleash-${name}`,
    `x-unleash-${name}`,
  ]),
].join(', ');

const description = `The path, the body and the token are the same as for Unleash, and its SDKs treat every 2xx as a success. 404, 429 and 503 make the SDK for Node
back off and keep what it has counted. Temporary conditions never get 400, 401, 403 or 413.

\`variants\` count as checks of each variant, the rest of \`yes\` as checks of \`enabled\`, and the rest of \`no\` as checks of \`disabled\`. Entries
that cannot be counted are left out and noted in the ledger; the rest is counted. \`Flagmeter-Noted\` names the first of them.

If a bucket of an SDK for Node or Go repeats the last bucket of its connection or instance and \`start\`, only its additional checks
count. An equal message of Edge within 30 seconds counts once.`;

const counts = {
  yes: Type.Optional(Type.Integer()),
  no: Type.Optional(Type.Integer()),
  variants: Type.Optional(Type.Object({}, { additionalProperties: { type: 'integer' } })),
};

const sender = {
  appName: Type.Optional(Type.String({ description: 'Name of the service.' })),
  instanceId: Type.Optional(Type.String()),
  connectionId: Type.Optional(Type.String({ description: 'Id of one run of the SDK.' })),
};

const Bucket = Type.Object({
  start: Type.Optional(Type.String()),
  stop: Type.Optional(Type.String()),
  toggles: Type.Object({}, { additionalProperties: Type.Object(counts) }),
});

const impactMetrics = Type.Optional(
  Type.Array(Type.Object({}), { description: 'Counters, gauges and histograms of Unleash.' }),
);

const start = '2026-01-31T11:59:00.000Z';
const example = { appName: 'billing', instanceId: 'billing-7f9c', connectionId: 'c0ffee' };

const bodies: Readonly<Record<UnleashKind, { readonly schema: object; readonly example: object }>> = {
  metrics: {
    schema: Type.Object(
      { ...sender, bucket: Type.Union([Bucket, Type.Null()]), impactMetrics },
      { component: 'UnleashMetrics' },
    ),
    example: {
      ...example,
      bucket: {
        start,
        stop: '2026-01-31T12:00:00.000Z',
        toggles: { checkout: { yes: 12, no: 3, variants: { blue: 7 } } },
      },
    },
  },
  bulk: {
    schema: Type.Object(
      {
        applications: Type.Optional(Type.Array(Type.Object({}))),
        metrics: Type.Array(
          Type.Object({
            featureName: Type.String(),
            appName: Type.Optional(Type.String()),
            environment: Type.Optional(Type.String()),
            timestamp: Type.Optional(Type.String()),
            ...counts,
          }),
        ),
        impactMetrics,
      },
      { component: 'UnleashBulk' },
    ),
    example: {
      applications: [],
      metrics: [
        { featureName: 'checkout', appName: 'billing', environment: 'production', timestamp: start, yes: 12, no: 3 },
      ],
    },
  },
  register: {
    schema: Type.Object(
      {
        ...sender,
        sdkVersion: Type.Optional(Type.String()),
        strategies: Type.Optional(Type.Array(Type.String(), { description: 'Not read.' })),
        started: Type.Optional(Type.String({ description: 'Not read.' })),
      },
      { component: 'UnleashRegistration' },
    ),
    example: { ...example, sdkVersion: 'unleash-client-node:6.12.1', strategies: ['default'], started: start },
  },
};

const summaries: Readonly<Record<UnleashKind, string>> = {
  metrics: 'Report the bucket of an Unleash SDK',
  bulk: 'Report counts collected by Unleash Edge',
  register: 'Register an Unleash SDK as a sender',
};

function describeOperation(kind: UnleashKind, limit: number, forPages: boolean): Operation {
  return {
    operationId: `unleash${forPages ? 'Pages' : ''}${capital(kind)}`,
    summary: `${summaries[kind]}${forPages ? ' in a page or an app' : ''}`,
    description,
    security: [{ unleashToken: [] }],
    parameters: [ContentEncoding],
    body: { 'application/json': bodies[kind] },
    responses: {
      202: {
        description: 'The message is counted and on disk. The body is empty.',
        headers: forPages ? acceptedHeaders : { [notedHeader]: Noted },
      },
    },
    refuses: listRefusals(limit, forPages),
    refusalHeaders: (status) => (forPages && status !== 403 ? cors : {}),
  };
}

function capital(kind: UnleashKind): string {
  return kind[0]!.toUpperCase() + kind.slice(1);
}

const listRefusals = (limit: number, forPages: boolean): Refusals => ({
  ...intakeRefusals(limit),
  ...senderRefusals,
  invalid_body: 'The body must be an object',
  ...(forPages && { origin_not_allowed: originRefusal }),
});
