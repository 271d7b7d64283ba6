import Type, { type TSchemaOptions } from 'typebox';

/** Matches a port number, 0 to 65535. */
const port = '(?:6553[0-5]|655[0-2]\\d|65[0-4]\\d\\d|6[0-4]\\d{3}|[1-5]\\d{4}|0*\\d{1,4})';

export function address(description: string, options: TSchemaOptions = {}) {
  return Type.String({
    group: 'Addresses',
    value: 'HOST:PORT',
    description,
    pattern: `^(?:\\[[0-9a-fA-F:.]+(?:%[\\w.-]+)?\\]|[^\\s:/@[\\]]*):${port}$`,
    must: 'be HOST:PORT, such as 127.0.0.1:8080, [::1]:8080 or :8080 (every IPv4 address); port 0 chooses a free one',
    ...options,
  });
}

export function url(description: string, defaultText: string) {
  return Type.String({
    group: 'Addresses',
    value: 'URL',
    description,
    defaultText,
    pattern: `^https?://(?:\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(?::(?!0+(?:/|$))${port})?(?:/[^\\s/?#]+)*$`,
    must: 'be an absolute http or https URL without user, query, fragment or trailing slash',
  });
}

/** The first segments of the service's own paths. */
const ownPaths = 'api|apps|connect|console|healthz|metrics|readyz|settings|swagger|Metrics\\.Metrics|Usage\\.Usage';

/** A prefix of URL paths. */
export function path(description: string) {
  return Type.String({
    group: 'Addresses',
    value: 'PATH',
    description,
    pattern: `^(?!/(?:${ownPaths})(?:/|$))(?:/[\\w~-][\\w.~-]*)+$`,
    must: 'be a path such as /t, of letters, digits, -, _, . and ~, without a trailing slash, that the service does not use itself',
  });
}

export function file(group: string, description: string, options: TSchemaOptions = {}) {
  const must = 'be a path';
  return Type.String({ group, value: 'FILE', description, pattern: '^[^\\0]+$', must, ...options });
}

export function whole(
  group: string,
  description: string,
  options: TSchemaOptions & { minimum: number; maximum?: number },
) {
  return Type.Integer({ group, value: 'N', description, maximum: Number.MAX_SAFE_INTEGER, ...options });
}

/** A number of bytes, which can have the form 64KiB, 5MiB or 1GiB. */
export function bytes(
  group: string,
  description: string,
  options: TSchemaOptions & { minimum: number; maximum?: number },
) {
  return whole(group, description, { value: 'BYTES', size: true, ...options });
}
