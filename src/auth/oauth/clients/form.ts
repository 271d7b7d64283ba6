import type { Static, TObject } from 'typebox';
import { ApiError } from '../../../contract/errors.ts';
import { decodeText, readBody } from '../../../http/body.ts';
import { parsePairs } from '../../../http/pairs.ts';
import type { Request } from '../../../http/types.ts';
import { OAuthError } from './oauth-error.ts';

/** Maximum length, bytes. It exceeds the longest code, verifier, token and redirect URI together. */
export const longestForm = 16_384;

/** The refusal of a form with a repeated parameter (RFC 6749 §3.2). */
export const repeatedParameter = 'A parameter is repeated';

/** The parameters of a form by name. A parameter without a value counts as omitted (RFC 6749 §3.2). */
export type Form = ReadonlyMap<string, string>;

/**
 * Reads the form of a token request (RFC 6749 §3.2).
 * @throws {OAuthError} `invalid_request`: wrong content type, broken encoding, repeated parameter, or too long
 */
export async function readForm(request: Request): Promise<Form> {
  if (!isForm(request)) {
    throw new OAuthError('invalid_request', `Send the parameters as ${formType}`);
  }
  try {
    return parseForm(decodeText(await readBody(request, longestForm)));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new OAuthError('invalid_request', error.message, { status: error.status });
  }
}

const formType = 'application/x-www-form-urlencoded';

/** Whether a request has the content type of a form. */
export function isForm(request: Request): boolean {
  const sent = request.header('content-type') ?? '';
  if (sent === formType) return true;
  const [type = ''] = sent.split(';', 1);
  return type.trim().toLowerCase() === formType;
}

/** @throws {OAuthError} `invalid_request` */
export function parseForm(text: string): Form {
  const { form, repeated } = parseParameters(text);
  if (repeated.size > 0) throw new OAuthError('invalid_request', repeatedParameter);
  return form;
}

/**
 * The parameters, and the repeated names. For those, `form` has the first value.
 * @throws {OAuthError} `invalid_request`: broken encoding
 */
export function parseParameters(text: string): { form: Form; repeated: ReadonlySet<string> } {
  const form = new Map<string, string>();
  const repeated = new Set<string>();
  const pairs = parsePairs(text);
  if (pairs === undefined)
    throw new OAuthError('invalid_request', 'A parameter is not percent-encoded UTF-8');
  for (const [name, value] of pairs) {
    if (value === '') continue;
    if (form.has(name)) repeated.add(name);
    else form.set(name, value);
  }
  return { form, repeated };
}

/**
 * Makes the reader of a form's fields. Fields that are not in the schema are ignored (RFC 6749 §3.2).
 * @param schema whose strings may have a `pattern`, explained by their `description`
 * @returns a function that throws an `OAuthError` with `invalid_request` for a missing or malformed field
 */
export function fieldReader<Schema extends TObject>({
  properties,
  required,
}: Schema): (form: Form) => Static<Schema> {
  const fields = Object.entries(properties as Readonly<Record<string, FieldRules>>).map(([name, rules]) => ({
    name,
    must: rules.description,
    pattern: rules.pattern === undefined ? undefined : new RegExp(rules.pattern),
    isRequired: required?.includes(name) ?? false,
  }));
  return (form) => {
    const values: Record<string, string> = {};
    for (const { name, must, pattern, isRequired } of fields) {
      const value = form.get(name);
      if (value !== undefined) values[name] = value;
      else if (isRequired) throw new OAuthError('invalid_request', `${name} is missing`);
      if (value !== undefined && pattern?.test(value) === false)
        throw new OAuthError('invalid_request', `${name} must be ${must}`);
    }
    return values as Static<Schema>;
  };
}

interface FieldRules {
  readonly pattern?: string;
  readonly description?: string;
}
