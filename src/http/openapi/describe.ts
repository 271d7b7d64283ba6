import type { Group } from '../endpoint.ts';
import { Components } from './components.ts';
import type { Json } from './json-schema.ts';
import { describeOperation, templateOf } from './operation.ts';

/** The parts of an OpenAPI document that are made from endpoints. @param fixed further `components` */
export function describeEndpoints(groups: readonly Group[], fixed: Json = {}): Json {
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
