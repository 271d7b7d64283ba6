import { ApiProblem } from '../../api/problem.ts';

/**
 * Finds the form field that caused a refusal.
 * @param names names of the form's fields
 * @param codes names of fields by refusal code
 */
export function findField(
  error: unknown,
  names: readonly string[],
  codes: Readonly<Record<string, string>> = {},
): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  const { code, message } = error;
  // The message names the field: "Field name must …", "`allowedOrigins[1]` must …", "The value at /name must …".
  const place = /^(?:Field |`|The value at \/|The (?=\w+ must |name of ))(\w+)/.exec(message)?.[1];
  const listed = /^The name of an? (\w+)/.exec(message)?.[1];
  // Some codes contain the name of the field, such as `invalid_name`.
  const candidates = [listed && `${listed}s`, place, codes[code], code.replace(/^invalid_/, '')];
  return candidates.find((name) => name !== undefined && names.includes(name));
}
