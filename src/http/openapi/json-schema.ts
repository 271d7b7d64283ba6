import type { Documented } from '../../contract/shapes/fields.ts';
import type { Json } from '../endpoint.ts';

type Refer = (name: string, describe: () => Json) => Json;

/**
 * The JSON Schema that the document shows for a validating schema. It differs in two points: the empty pattern of a map (see
 * `Named`) becomes `additionalProperties`, and the options in `Documented` are applied.
 */
export function jsonSchema(schema: object, refer: Refer): Json {
  const { component, documented, example: _, ...plain } = schema as Documented & Json;
  const more = documented === undefined ? {} : jsonSchema(documented, refer);
  if ('$ref' in more) return reference(more, plain);
  const describe = () => ({ ...showAll(plain, refer), ...more });
  return component === undefined ? describe() : refer(component, describe);
}

function showAll(schema: Json, refer: Refer): Json {
  const shown = Object.entries(schema).map(([keyword, value]) => show(keyword, value, refer));
  return Object.assign({}, ...shown) as Json;
}

function show(keyword: string, value: unknown, refer: Refer): Json {
  switch (keyword) {
    case 'properties':
      return { properties: mapValues(value as Readonly<Record<string, object>>, refer) };
    case 'items':
    case 'contentSchema':
    case 'additionalProperties':
      return { [keyword]: typeof value === 'object' ? jsonSchema(value as object, refer) : value };
    case 'prefixItems':
      return { prefixItems: (value as readonly object[]).map((each) => jsonSchema(each, refer)) };
    case 'anyOf':
      return showChoice(value as readonly object[], refer);
    case 'patternProperties':
      return showMap(value as Readonly<Record<string, object>>, refer);
    default:
      return { [keyword]: value };
  }
}

/** A choice between texts becomes one `enum`, which reads better and which client generators understand. */
function showChoice(options: readonly object[], refer: Refer): Json {
  const texts = options.map((option) => (option as { const?: unknown }).const);
  if (texts.every((text) => typeof text === 'string')) return { type: 'string', enum: texts };
  return { anyOf: options.map((option) => jsonSchema(option, refer)) };
}

function mapValues(properties: Readonly<Record<string, object>>, refer: Refer): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, jsonSchema(value, refer)]),
  );
}

function showMap(patterns: Readonly<Record<string, object>>, refer: Refer): Json {
  const values = patterns[''];
  if (values === undefined) return { patternProperties: mapValues(patterns, refer) };
  return { additionalProperties: jsonSchema(values, refer) };
}

/** A reference excludes `null`, so a nullable schema allows it in addition to the reference. */
function reference(target: Json, { type, description }: { type?: unknown; description?: string }): Json {
  const words = description === undefined ? {} : { description };
  const nullable = Array.isArray(type) && type.includes('null');
  return nullable ? { ...words, anyOf: [target, { type: 'null' }] } : { ...words, ...target };
}
