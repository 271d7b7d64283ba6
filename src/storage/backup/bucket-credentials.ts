import { readTextFile } from '../../runtime/text-file.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const names = {
  accessKeyId: 'aws_access_key_id',
  secretAccessKey: 'aws_secret_access_key',
  sessionToken: 'aws_session_token',
} as const;

/**
 * From a file of lines `name = value` as AWS uses it, or from the environment. They are read for each backup.
 * @throws {Error} if they are missing; the message does not contain them
 */
export function readCredentials(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Credentials {
  const read = file === undefined ? (name: string) => env[name.toUpperCase()] : fromFile(file);
  const [accessKeyId, secretAccessKey, sessionToken] = Object.values(names).map(read);
  if (!accessKeyId || !secretAccessKey) {
    const where = file === undefined ? 'the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)' : file;
    throw new Error(`Cannot find the credentials of the bucket in ${where}`);
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

function fromFile(file: string): (name: string) => string | undefined {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    throw new Error(
      `Cannot read the credentials of the bucket: ${(error as NodeJS.ErrnoException).code} at ${file}`,
    );
  }
  const lines = Array.from(
    text.matchAll(/^\s*(\w+)\s*=\s*(\S+)\s*$/gm),
    ([, name, value]) => [name, value] as const,
  );
  const values = new Map(lines);
  return (name) => values.get(name);
}
