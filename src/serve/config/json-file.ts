import { type ParseError, parse as parseJson, printParseErrorCode } from 'jsonc-parser';
import { UsageError } from '../../cli/flags.ts';

/**
 * Reads the JSON object in the file of a setting.
 * @throws {UsageError} with the setting, the file and the position of the first error
 */
export function readJsonFile(flag: string, path: string, readFile: (path: string) => string): object {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    throw new UsageError(`Cannot read --${flag} ${path}: ${error instanceof Error ? error.message : error}`);
  }
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    throw new UsageError(`Cannot use --${flag} ${path}: must be valid JSON${whereBroken(text)}`);
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw new UsageError(`Cannot use --${flag} ${path}: must contain one JSON object`);
  }
  return object;
}

/** Position and reason of the first error. The file is not quoted: it may contain a secret. */
function whereBroken(text: string): string {
  const errors: ParseError[] = [];
  parseJson(text, errors, { disallowComments: true, allowTrailingComma: false });
  const [first] = errors;
  if (first === undefined) return '';
  const before = text.slice(0, first.offset).split('\n');
  const reason = printParseErrorCode(first.error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return ` (line ${before.length}, column ${before.at(-1)!.length + 1}: ${reason})`;
}
