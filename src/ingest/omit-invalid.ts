/** The keywords used by the schemas of packets and reports. `omitInvalid` ignores any other keyword. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: { readonly '': Schema };
}

type Holder = Record<string | number, unknown>;

/**
 * Removes every optional value that violates its schema from a parsed body, so that one bad value does not discard its
 * neighbours. A number becomes `NaN`; whether the rest of its entry counts is decided when entries are read. Any other map
 * entry is deleted. Any other field or list entry becomes `null`, because list entries are counted.
 * @param exact the same body with large numbers as texts (see `quoteLargeNumbers`). This one is modified
 * @returns whether anything was removed
 */
export function omitInvalid(schema: object, body: object, exact: object = body): boolean {
  return omitWithin(schema as Schema, body as Holder, exact as Holder);
}

/** The fields of a parsed body that its schema requires, without their list entries. */
export function requiredPart(
  { required }: { readonly required?: readonly string[] },
  body: unknown,
): unknown {
  if (!isHolder(body) || Array.isArray(body)) return body;
  const present = (required ?? []).filter((field) => Object.hasOwn(body, field));
  return Object.fromEntries(present.map((field) => [field, Array.isArray(body[field]) ? [] : body[field]]));
}

function omitWithin(schema: Schema, value: Holder, exact: Holder): boolean {
  return Array.isArray(value)
    ? omitFromList(schema, value, exact as unknown as unknown[])
    : omitFromObject(schema, value, exact);
}

function omitFromList({ items, maxItems = 0 }: Schema, list: readonly unknown[], exact: unknown[]): boolean {
  if (items === undefined) return false;
  if (isWhole(items)) {
    if (list.length <= maxItems) return false;
    exact.length = maxItems;
    return true;
  }
  let omitted = false;
  for (const [at, item] of list.entries()) {
    if (!fits(items, item)) {
      exact[at] = null;
      omitted = true;
    } else if (isHolder(item) && omitWithin(items, item, exact[at] as Holder)) omitted = true;
  }
  return omitted;
}

function omitFromObject({ properties, patternProperties }: Schema, value: Holder, exact: Holder): boolean {
  let omitted = false;
  for (const key in value) {
    const schema = properties === undefined ? patternProperties?.[''] : fieldOf(properties, key);
    if (schema === undefined) continue;
    const each = value[key];
    if (fits(schema, each)) {
      if (isHolder(each) && omitWithin(schema, each, exact[key] as Holder)) omitted = true;
    } else if (allows(schema, 'null') && isEmptyList(each)) {
      exact[key] = null; // An empty list means absent, so nothing is omitted.
    } else {
      if (isNumber(schema)) exact[key] = Number.NaN;
      else if (properties === undefined) delete exact[key];
      else exact[key] = null;
      omitted = true;
    }
  }
  return omitted;
}

/** The schema of a field; `undefined` for an unknown one. */
function fieldOf(properties: Readonly<Record<string, Schema>>, key: string): Schema | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** Whether a value is valid, apart from its members. */
function fits(schema: Schema, value: unknown): boolean {
  if (schema.type === undefined) return true;
  if (!allows(schema, typeOf(value))) return false;
  if (typeof value === 'number') return isInRange(schema, value);
  if (!Array.isArray(value) || schema.items === undefined) return true;
  const { items, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (!isWhole(items)) return value.length <= maxItems;
  return value.slice(0, maxItems).every((item) => fits(items, item));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function allows({ type = [] }: Schema, actual: string): boolean {
  const types = typeof type === 'string' ? [type] : type;
  return types.includes(actual) || (actual === 'number' && types.includes('integer'));
}

function isInRange(schema: Schema, value: number): boolean {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  const isRight = allows(schema, 'integer') ? Number.isInteger(value) : Number.isFinite(value);
  return isRight && value >= minimum && value <= maximum;
}

/** Counts in a list are positional, so the list is valid or invalid as a whole. */
function isWhole(items: Schema): boolean {
  return items.type === 'integer';
}

function isNumber(schema: Schema): boolean {
  return (allows(schema, 'integer') || allows(schema, 'number')) && !allows(schema, 'string');
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null;
}

/** PHP encodes an empty map like this. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
