/** A text from outside, such as the name of a flag. It is shown literally in every format, without markup. */
export interface Name {
  readonly name: string;
}

/** A text for people, in parts: the service's own words without markup, and texts from outside. */
export type Words = readonly (string | Name)[];

/** Converts a template literal to words. Its values are texts from outside, unless they are words already. */
export function words(own: TemplateStringsArray, ...values: readonly (string | number | Words)[]): Words {
  return own.flatMap((text, index): Words => {
    const value = values[index];
    if (value === undefined) return [text];
    return [text, ...(typeof value === 'object' ? value : [{ name: String(value) }])];
  });
}

/** Returns at most `most` names, separated by commas, and the number of other names. */
export function listed(names: readonly string[], most: number): Words {
  const shown = names.slice(0, most).flatMap((name, index) => [...(index === 0 ? [] : [', ']), { name }]);
  return names.length > most ? [...shown, ` and ${names.length - most} more`] : shown;
}
