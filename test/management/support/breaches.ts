import { openapi } from './openapi-document.ts';

export interface Schema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const { schemas } = (openapi as { components: { schemas: Readonly<Record<string, Schema>> } }).components;

/** Returns values, each of which breaks one rule of a schema. @param good a valid value */
export function breaches(schema: Schema, good?: unknown): unknown[] {
  const { $ref, anyOf, type } = schema;
  if (typeof $ref === 'string') return breaches(schemas[$ref.split('/').at(-1)!]!, good);
  const alternative = anyOf?.find((each) => each.type !== 'null');
  if (alternative !== undefined) return breaches(alternative, good).filter((value) => value !== null);
  const types = [type].flat();
  return ofType(schema, types[0], good).filter((value) => value !== null || !types.includes('null'));
}

function ofType(schema: Schema, type: string | undefined, good: unknown): unknown[] {
  if (schema.enum !== undefined) return [null, 7, 'other', String(schema.enum[0]).toUpperCase()];
  if (type === 'boolean') return [null, 0, 'true'];
  if (type === 'string') return [null, 7, ['a'], ...wrongTexts(schema)];
  if (type === 'array') return [null, 'a', {}, ...wrongLists(schema, good)];
  if (type === 'object') return [null, [], ...wrongObjects(schema, good)];
  const { minimum, exclusiveMinimum, maximum } = schema as Record<string, number | undefined>;
  const below = minimum === undefined ? exclusiveMinimum : minimum - 1;
  const outside = [below, maximum && maximum + 1].filter((bound) => bound !== undefined);
  return [null, '1', true, ...outside, ...(type === 'integer' ? [1.5] : [])];
}

function wrongTexts({ minLength, maxLength, pattern = '' }: Schema): string[] {
  const long = 'x'.repeat(Number(maxLength ?? 1000) + 1);
  const rule = new RegExp(String(pattern), 'u');
  const short = minLength ? ['x'.repeat(Number(minLength) - 1)] : [];
  return [...short, ...(maxLength ? [long] : []), ...['', 'a\nb', long].filter((text) => !rule.test(text))];
}

function wrongLists({ items = {}, minItems, maxItems, uniqueItems }: Schema, good: unknown): unknown[] {
  const [first = 'a'] = (good ?? []) as unknown[];
  // Longer lists would be too large, because many requests are sent.
  const tooMany = Number(maxItems) <= 100 ? [Array(Number(maxItems) + 1).fill(first)] : [];
  return [
    ...(minItems ? [[]] : []),
    ...(uniqueItems ? [[first, first]] : []),
    ...tooMany,
    ...breaches(items, first).map((value) => [value]),
  ];
}

function wrongObjects(schema: Schema, good: unknown = {}): unknown[] {
  const { required = [], properties = {}, additionalProperties, minProperties, maxProperties } = schema;
  const changed = (name: string, value: unknown) => {
    const own = { value, enumerable: true };
    return Object.defineProperty({ ...(good as object) }, name, own);
  };
  const many = Array.from({ length: Number(maxProperties) + 1 || 0 }, (_, at) => [`p${at}`, 1]);
  const ofAny = typeof additionalProperties === 'object' ? breaches(additionalProperties as Schema) : [];
  return [
    ...(required as string[]).map((name) => changed(name, undefined)),
    ...(additionalProperties === false ? ['colour', 'number', '__proto__'].map((name) => changed(name, 1)) : []),
    ...Object.entries(properties).flatMap(([name, each]) =>
      breaches(each, (good as Readonly<Record<string, unknown>>)[name]).map((value) => changed(name, value)),
    ),
    ...(minProperties ? [{}, Object.fromEntries(many)] : []),
    ...ofAny.map((on) => ({ on })),
  ];
}
