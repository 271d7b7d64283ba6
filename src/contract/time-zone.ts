/** Maximum length of the name of a time zone. Those of IANA are shorter. */
export const maxZoneName = 64;

/** Whether a text names a time zone of IANA's database, such as `Europe/Berlin` or `UTC`. Offsets such as `+01:00` are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name) || name.length > maxZoneName) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** The refusal of an unknown time zone. @param name of at most 100 characters */
export const unknownZone = (name: string) =>
  `${JSON.stringify(name)} is not a time zone of the IANA database, such as Europe/Berlin`;
