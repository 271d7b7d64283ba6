import { version } from '../../../package.json' with { type: 'json' };
import type { Group } from '../endpoint.ts';
import { Components } from './components.ts';
import type { Json } from './json-schema.ts';
import { describeOperation, templateOf } from './operation.ts';

/** A host's part of an OpenAPI document, besides its endpoints. */
interface Host {
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  /** Public URL. */
  readonly server: string;
  readonly securitySchemes: Json;
  /** Security of operations that declare none of their own. */
  readonly security?: readonly Json[];
}

/** The OpenAPI 3.1 document of a host. */
export function describeHost(host: Host, groups: readonly Group[]): Json {
  const { title, summary, description, server, securitySchemes, security } = host;
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  return {
    openapi: '3.1.0',
    info: { title, version, summary, description, license },
    servers: [{ url: server }],
    ...(security !== undefined && { security }),
    ...describeEndpoints(groups, { securitySchemes }),
  };
}

/** The parts generated from endpoints. @param fixed further `components` */
function describeEndpoints(groups: readonly Group[], fixed: Json): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const { tag, endpoints } of groups) {
    for (const endpoint of endpoints) {
      const { method, operation } = endpoint;
      if (operation === undefined) continue;
      const template = templateOf(endpoint);
      const described = { [method.toLowerCase()]: describeOperation(operation, tag, components) };
      paths[template] = { ...paths[template], ...described };
    }
  }
  return {
    tags: groups.filter(isDescribed).map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: { ...components.toJson(), ...fixed },
  };
}

function isDescribed({ endpoints }: Group): boolean {
  return endpoints.some(({ operation }) => operation !== undefined);
}
