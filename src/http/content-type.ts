import { ApiError } from '../contract/errors.ts';

const token = "[!#$%&'*+.^_`|~\\w-]+";
const quoted = '"(?:[^"\\\\]|\\\\.)*"';
const gap = '[ \\t]*';
/** Any parameter is accepted, but a charset must be UTF-8. Nothing is allowed between two semicolons. */
const parameter = `charset${gap}=${gap}(?:utf-8|"utf-8")|(?!charset${gap}=)${token}${gap}=${gap}(?:${token}|${quoted})`;

/** Checks a `Content-Type` header. @throws {ApiError} `invalid_content_type` */
export type ContentTypeCheck = (value: string | undefined) => void;

/**
 * Creates a check that a body has one of some media types, in UTF-8 (RFC 9110 §8.3).
 * @param types in lower case
 */
export function contentTypeCheck(...types: readonly string[]): ContentTypeCheck {
  const names = types.map((type) => type.replace(/[.+]/g, '\\$&')).join('|');
  const pattern = new RegExp(`^${gap}(?:${names})${gap}(?:;${gap}(?:(?:${parameter})${gap})?)*$`, 'i');
  const [usual] = types;
  return (value) => {
    if (value !== undefined && (value === usual || pattern.test(value))) return;
    throw new ApiError('invalid_content_type', `Send ${types.join(' or ')}, in UTF-8`);
  };
}
