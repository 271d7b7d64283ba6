import { ApiProblem } from '../../api/problem.ts';

/**
 * The field of a form that caused a refusal, if any.
 * @param names the form's fields
 * @param codes fields by refusal code
 */
export function findField(
  error: unknown,
  names: readonly string[],
  codes: Readonly<Record<string, string>> = {},
): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  const { code, message } = error;
  // The API names the field: "Field name must …", "Cannot take allowedOrigins[1]: …", "The value at /name must …".
  const place = /^(?:Field |Cannot take (?:the )?|The value at \/)(\w+)/.exec(message)?.[1];
  const listed = /^Cannot take the name of an? (\w+)/.exec(message)?.[1];
  // Codes such as `invalid_name` name the field themselves.
  const candidates = [listed && `${listed}s`, place, codes[code], code.replace(/^invalid_/, '')];
  return candidates.find((name) => name !== undefined && names.includes(name));
}
