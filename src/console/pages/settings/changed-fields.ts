/** The fields of a form that differ from what a thing has. */
export function changedFields(
  thing: object,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const known = new Map(Object.entries(thing));
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== (known.get(name) ?? '')),
  );
}
