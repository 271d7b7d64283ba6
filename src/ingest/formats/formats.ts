import type { MessageRoute } from '../../contract/message-routes.ts';
import type { Format, FormatCall } from '../declared.ts';
import { identities } from './identities/format.ts';
import { otlp } from './otlp/format.ts';
import { reports } from './reports/format.ts';
import { telemetry } from './telemetry/format.ts';
import { unleash } from './unleash/format.ts';

/** Formats by the routes of their messages, in the order of the OpenAPI document. */
const byRoute = { telemetry, identities, usage: reports, metrics: reports, unleash, otlp } satisfies Readonly<
  Record<MessageRoute, Format>
>;

export type FormatDeps = (typeof byRoute)[MessageRoute] extends Format<infer Deps> ? Deps : never;

export const formats: readonly Format<FormatDeps>[] = [...new Set(Object.values(byRoute))];

export const formatCalls: readonly FormatCall<FormatDeps>[] = formats.flatMap(({ calls }) => calls ?? []);
