/** Returns malformed bodies, and bodies with a text in every field. */
export const bodies = (example: unknown, text: string): readonly string[] => [
  `{"${text}`,
  JSON.stringify({ [text]: text, k: text, appKey: text, e: text, environment: text, identity: text }),
  JSON.stringify(withText(example, text)),
];

function withText(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text;
  if (Array.isArray(value)) return value.map((inner) => withText(inner, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withText(inner, text)]));
}

/** Returns forms with the text in their fields. */
export function forms(text: string): readonly string[] {
  const fields = ['client_id', 'client_secret', 'token', 'code', 'refresh_token', 'username', 'device_code'];
  const form = new URLSearchParams(Object.fromEntries(fields.map((field) => [field, text])));
  const grants = ['client_credentials', 'authorization_code', 'refresh_token', text];
  return [...grants.map((grant) => `${form}&grant_type=${grant}`), `%${text}`];
}
