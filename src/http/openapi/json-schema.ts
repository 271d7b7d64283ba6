/** A JSON Schema, or a part of the OpenAPI document: plain JSON. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema that the document shows for a schema that validates: the same, but for two things that are made for
 * the checkers. The empty pattern of a map (see `Named` in packet.ts) becomes `additionalProperties`; and what the option
 * `documented` says takes the place of a plain type or is added to it.
 */
export function jsonSchema(schema: object): Json {
  const { documented, ...plain } = schema as { documented?: Json };
  if (documented !== undefined && '$ref' in documented) return reference(documented, plain);
  const shown: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(plain)) Object.assign(shown, show(keyword, value));
  return { ...shown, ...documented };
}

function show(keyword: string, value: unknown): Json {
  switch (keyword) {
    case 'properties':
      return { properties: mapValues(value as Readonly<Record<string, object>>) };
    case 'items':
    case 'additionalProperties':
      return { [keyword]: typeof value === 'object' ? jsonSchema(value as object) : value };
    case 'anyOf':
      return showChoice(value as readonly object[]);
    case 'patternProperties':
      return showMap(value as Readonly<Record<string, object>>);
    default:
      return { [keyword]: value };
  }
}

/** A choice between texts is one `enum`, which reads better and which generators of clients understand. */
function showChoice(options: readonly object[]): Json {
  const texts = options.map((option) => (option as { const?: unknown }).const);
  if (texts.every((text) => typeof text === 'string')) return { type: 'string', enum: texts };
  return { anyOf: options.map(jsonSchema) };
}

function mapValues(properties: Readonly<Record<string, object>>): Json {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, jsonSchema(value)]));
}

function showMap(patterns: Readonly<Record<string, object>>): Json {
  const values = patterns[''];
  if (values === undefined) return { patternProperties: mapValues(patterns) };
  return { additionalProperties: jsonSchema(values) };
}

/** A reference refuses `null` where the schema takes it, so that is said beside it. */
function reference(target: Json, { type, description }: { type?: unknown; description?: string }): Json {
  const words = description === undefined ? {} : { description };
  const nullable = Array.isArray(type) && type.includes('null');
  return nullable ? { ...words, anyOf: [target, { type: 'null' }] } : { ...words, ...target };
}
