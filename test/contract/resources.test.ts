import { describe, expect, test } from 'vitest';
import type { ColumnsOf } from '../../src/contract/resources/column.ts';
import type { Resource } from '../../src/contract/resources/resource.ts';
import { resources } from '../../src/contract/resources/resources.ts';
import { type BodyOptions, createFields, option } from '../../src/contract/shapes/option.ts';
import { NewTeam, type Team } from '../../src/contract/shapes/team.ts';
import type { Content } from '../../src/http/endpoint.ts';
import { managementApi } from '../../src/management/management-api.ts';

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

interface Route {
  readonly query: readonly string[];
  readonly body: readonly string[];
  readonly row: Readonly<Record<string, JsonSchema>>;
}

function findSchema(content: Content | undefined): JsonSchema {
  return content?.['application/json']?.schema ?? {};
}

/**
 * Names of the parameters, body fields and item fields of each endpoint. Keys are routes such as `GET /api/v2/teams/:`.
 */
const endpoints = new Map<string, Route>(
  managementApi.flatMap((group) =>
    group.endpoints.map(({ method, path, operation }) => {
      const { parameters = [], body, responses = {} } = operation ?? {};
      return [
        `${method} ${path.replaceAll(/:\w+/g, ':')}`,
        {
          query: parameters.map(({ name }) => name),
          body: Object.keys(findSchema(body).properties ?? {}),
          row: findSchema(responses[200]?.content).properties?.['items']?.items?.properties ?? {},
        },
      ];
    }),
  ),
);

function resourcePath({ within, collection }: Resource): string {
  const owner = within && { app: '/applications/:', team: '/teams/:' }[within];
  return `/api/v2${owner ?? ''}/${collection}`;
}

describe.each(Object.entries<Resource>(resources))('the resource %s', (_name, resource) => {
  const list = resourcePath(resource);
  const { create, update, remove, actions = [], single, filters = [] } = resource;

  test('each resource has a list endpoint with the columns and filters of the resource', () => {
    const { row = {}, query = [] } = endpoints.get(`GET ${list}`) ?? {};
    const paths = Object.keys(resource.columns).map((path) => path.split('.'));
    const missing = paths.filter(([field = '', inner]) =>
      inner === undefined ? row[field] === undefined : row[field]?.properties?.[inner] === undefined,
    );
    expect(missing).toEqual([]);
    expect(Object.keys(row)).toEqual(expect.arrayContaining([resource.key, resource.alias ?? resource.key]));
    expect(query).toEqual(expect.arrayContaining(filters.map(({ field, name }) => field ?? name)));
  });

  test('each command on a resource has an endpoint, which accepts the fields of the command', () => {
    const made = create && (create.put ? `PUT ${list}/:` : `POST ${list}`);
    const changed = update && (update.whole ? `PUT ${list}/:` : `PATCH ${list}/:`);
    const routes = [single && `GET ${list}/:`, made, changed, remove && `DELETE ${list}/:`];
    for (const { path, columns, method = columns ? 'GET' : 'POST' } of actions)
      routes.push(`${method} ${list}/:/${path.map((each) => (each.startsWith('--') ? ':' : each)).join('/')}`);
    for (const route of routes.filter((each) => each !== undefined)) expect([...endpoints.keys()]).toContain(route);
    for (const [route, fields] of [[made, create?.fields] as const, [changed, update?.fields] as const])
      for (const { field, name } of fields ?? []) expect(endpoints.get(route!)!.body).toContain(field ?? name);
  });
});

test('a column of an unknown field does not compile', () => {
  // @ts-expect-error: a team has no such field
  const columns: ColumnsOf<typeof Team> = { colour: 'Colour' };
  expect(columns).toBeDefined();
});

test('a body with an undeclared field does not compile', () => {
  // @ts-expect-error: the plan is missing
  const options: BodyOptions<typeof NewTeam> = { name: null };
  expect(options).toBeDefined();
});

test('createFields takes the allowed values and the required state of an option from the schema', () => {
  const plan = option('plan PLAN', 'Plan');
  expect(createFields(NewTeam, { name: option('name NAME', 'Name'), plan })).toEqual([
    { name: 'name', value: 'NAME', description: 'Name', required: true, field: 'name' },
    { ...plan, values: ['free', 'team', 'enterprise'], field: 'plan' },
  ]);
});
