/** A text from others, such as the name of a flag. It is shown literally, whatever markup the reader's program knows. */
export interface Name {
  readonly name: string;
}

/** A text for people, in parts: own words without markup, and the texts of others. */
export type Words = readonly (string | Name)[];

/** A template whose values are texts of others, unless they are words themselves. */
export function words(own: TemplateStringsArray, ...values: readonly (string | number | Words)[]): Words {
  return own.flatMap((text, index): Words => {
    const value = values[index];
    if (value === undefined) return [text];
    return [text, ...(typeof value === 'object' ? value : [{ name: String(value) }])];
  });
}

/** Some names, separated by commas, and the number of the others. */
export function listed(names: readonly string[], most: number): Words {
  const shown = names.slice(0, most).flatMap((name, index) => [...(index === 0 ? [] : [', ']), { name }]);
  return names.length > most ? [...shown, ` and ${names.length - most} more`] : shown;
}
