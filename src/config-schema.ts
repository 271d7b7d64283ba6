import Type, { type Static, type TSchemaOptions } from 'typebox';

/** 0 to 65535. */
const port = '(?:6553[0-5]|655[0-2]\\d|65[0-4]\\d\\d|6[0-4]\\d{3}|[1-5]\\d{4}|0*\\d{1,4})';

/**
 * Every setting of the server, once: its type, its default, what it may be, and its words in the help text and in
 * `docs/configuration.md`. `group` is its heading there, `value` the placeholder of its value, `must` ends the
 * sentence "Cannot use … : must …", `size` lets a byte count be written as 64KiB, 5MiB or 1GiB.
 */
export const settingsSchema = Type.Object({
  listen: address('HTTP: every host that has no listener of its own', { default: '127.0.0.1:8080' }),
  grpcListen: address('gRPC', { default: '127.0.0.1:8081' }),
  authListen: Type.Optional(address('HTTP: the token host alone')),
  apiListen: Type.Optional(address('HTTP: the management API alone')),
  metricsListen: Type.Optional(address('HTTP: the metrics host alone')),
  authUrl: Type.Optional(url('Public URL of the token host: the issuer of its tokens')),
  baseUrl: Type.Optional(url('Public URL of the management API: the audience of the tokens')),
  metricsUrl: Type.Optional(url('Public URL of the metrics host')),
  tlsCert: Type.Optional(file('TLS', 'Certificate chain (PEM) of HTTP and gRPC; needs --tls-key')),
  tlsKey: Type.Optional(file('TLS', 'Private key (PEM) of the certificate; needs --tls-cert')),

  serviceScope: Type.String({
    group: 'Tokens',
    value: 'SCOPE',
    description: 'Scope that stands for this service, asked for beside openid',
    default: 'flagmeter',
    // RFC 6749, section 3.3: scope-token.
    pattern: '^(?!openid$)[\\x21\\x23-\\x5B\\x5D-\\x7E]+$',
    must: 'be one word of printable ASCII without quotes or backslashes, and not openid',
  }),
  signingAlg: Type.Enum(['ES256', 'RS256', 'EdDSA'], {
    group: 'Tokens',
    value: 'ALG',
    description: 'Signs tokens: ES256, RS256 or EdDSA; another one makes a new key',
    default: 'ES256',
    must: 'be ES256, RS256 or EdDSA',
  }),

  data: file('Store', 'Data directory; on a local disk, never on a network file system', {
    value: 'DIR',
    default: './flagmeter-data',
  }),
  existing: Type.Boolean({
    group: 'Store',
    value: '',
    description: 'Refuse to start when --data holds no prepared store, instead of preparing one',
    default: false,
    must: 'be true or false',
  }),
  workers: whole('Store', 'Threads that add up and commit usage; an application belongs to one', {
    minimum: 1,
    maximum: 64,
    default: 1,
  }),

  rate: whole(
    'Admission',
    'Packets a second of one application, one for each begun 4 KiB of a body; 0 is no limit',
    {
      minimum: 0,
      maximum: 1_000_000_000,
      default: 10_000,
    },
  ),
  burst: Type.Optional(
    whole('Admission', 'Packets of one application at once, counted in the same way', {
      minimum: 0,
      maximum: 2_000_000_000,
      defaultText: 'twice --rate',
    }),
  ),
  maxBody: bytes('Admission', 'Largest body of a packet, after inflating', {
    minimum: 64,
    maximum: 1_073_741_824,
    default: 65_536,
  }),
  maxReport: bytes('Admission', 'Largest body or message of a report, after inflating', {
    minimum: 64,
    maximum: 1_073_741_824,
    default: 4_194_304,
  }),
  apiRate: whole('Admission', 'API requests a second of one client with all of its tokens; 0 is no limit', {
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
  }),
  tokenRate: whole('Admission', 'Token requests a second of one client; 0 is no limit', {
    minimum: 0,
    maximum: 1_000_000,
    default: 100,
  }),
  bodyBudget: bytes('Admission', 'Most bytes of all bodies above 4 KiB', { minimum: 64, default: 2 ** 26 }),
  batchPackets: whole('Admission', 'Most packets in one commit', { minimum: 1, default: 4_096 }),
  queueHighPackets: whole('Admission', 'Waiting packets from which on 503 is answered', {
    minimum: 1,
    default: 20_000,
  }),
  queueLowPackets: whole('Admission', 'Waiting packets below which packets are taken again', {
    minimum: 0,
    default: 10_000,
  }),
  queueHighBytes: bytes('Admission', 'Memory of what waits for the disk at which 503 is answered', {
    minimum: 1,
    default: 134_217_728,
  }),
  queueLowBytes: bytes('Admission', 'Memory of what waits below which packets are taken again', {
    minimum: 0,
    default: 67_108_864,
  }),
  queueHighAge: whole('Admission', 'Age in ms of the oldest waiting packet from which on 503 is answered', {
    value: 'MS',
    minimum: 1,
    default: 5_000,
  }),
  queueLowAge: whole('Admission', 'Age in ms below which packets are taken again', {
    value: 'MS',
    minimum: 0,
    default: 1_000,
  }),

  maxFeatures: whole('Limits', 'Features an environment; more are counted as __other__', {
    minimum: 1,
    maximum: 10_000,
    default: 2_000,
  }),
  maxVariants: whole('Limits', 'Variants a feature; more are counted as __other__', {
    minimum: 1,
    maximum: 1_000,
    default: 64,
  }),
  maxMetrics: whole('Limits', 'Metrics an environment; more are counted as __other__', {
    minimum: 1,
    maximum: 100_000,
    default: 1_000,
  }),

  staleAfter: whole('Limits', 'Days without a packet after which a feature is shown as stale', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 30,
  }),

  plans: Type.Enum(['fixed', 'open'], {
    group: 'Limits',
    value: 'WHO',
    description: 'Whether an Admin may raise the plan of a team: fixed (no) or open (yes)',
    default: 'fixed',
    must: 'be fixed or open',
  }),

  instanceTtl: whole('Identities', 'Seconds that an instance id is valid after its last use', {
    value: 'SECONDS',
    minimum: 1,
    maximum: 315_360_000,
    default: 2_592_000,
  }),
  rotationGrace: whole('Identities', 'Seconds that an instance id stays valid after another was minted', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 315_360_000,
    default: 3_600,
  }),
  maxIdentities: whole('Identities', 'Identities an environment whose exposures are kept', {
    minimum: 0,
    maximum: 100_000_000,
    default: 100_000,
  }),
  exposureDays: whole('Identities', 'Days that exposures are kept after they were last seen', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 30,
  }),

  keepMinutes: whole('Retention', 'Hours that minute buckets are kept; then they are hours', {
    value: 'HOURS',
    minimum: 1,
    maximum: 8_760,
    default: 48,
  }),
  keepHours: whole('Retention', 'Days that hour buckets are kept; then they are days', {
    value: 'DAYS',
    minimum: 1,
    maximum: 3_650,
    default: 90,
  }),
  keepDays: whole('Retention', 'Days that day buckets and unique users are kept', {
    value: 'DAYS',
    minimum: 1,
    maximum: 36_500,
    default: 1_826,
  }),
  keepAudit: whole('Retention', 'Days that the audit log is kept', {
    value: 'DAYS',
    minimum: 1,
    maximum: 36_500,
    default: 400,
  }),

  config: Type.Optional(
    file('Running', 'JSON file of these settings, by their names in camelCase or as flags'),
  ),
  shutdownGrace: whole('Running', 'Seconds to finish accepted work in after SIGTERM or SIGINT', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 3_600,
    default: 10,
  }),
  logLevel: Type.Enum(['debug', 'info', 'warn', 'error'], {
    group: 'Running',
    value: 'LEVEL',
    description: 'Least level that is logged: debug, info, warn or error',
    default: 'info',
    must: 'be debug, info, warn or error',
  }),
});

/** The settings as they are given: what has no default may be missing. */
export type Settings = Static<typeof settingsSchema>;

/** What the schema says of one setting. Exactly one of `default`, `defaultText` or none is there. */
export interface SettingSchema {
  readonly type?: 'string' | 'integer' | 'boolean';
  readonly group: string;
  /** The placeholder of the flag's value; empty for a flag that stands alone. */
  readonly value: string;
  readonly description: string;
  readonly default?: string | number | boolean;
  readonly defaultText?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly must?: string;
  readonly size?: true;
}

/** One setting with its names. */
export interface Setting {
  readonly key: keyof Settings;
  /** `max-body`: `--max-body` on the command line. */
  readonly flag: string;
  /** `FLAGMETER_MAX_BODY`. */
  readonly variable: string;
  readonly schema: SettingSchema;
}

/** Every setting, in the order of the schema. */
export const settings: readonly Setting[] = Object.entries(settingsSchema.properties).map(([key, schema]) => {
  const flag = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const variable = `FLAGMETER_${flag.toUpperCase().replaceAll('-', '_')}`;
  return { key: key as keyof Settings, flag, variable, schema: schema as unknown as SettingSchema };
});

/** The headings that settings are listed under, in order. */
export const groups: readonly string[] = [...new Set(settings.map(({ schema }) => schema.group))];

function address(description: string, options: TSchemaOptions = {}) {
  return Type.String({
    group: 'Addresses',
    value: 'HOST:PORT',
    description,
    pattern: `^(?:\\[[0-9a-fA-F:.]+(?:%[\\w.-]+)?\\]|[^\\s:/@[\\]]*):${port}$`,
    must: 'be HOST:PORT, such as 127.0.0.1:8080, [::1]:8080 or :8080 (every IPv4 address); port 0 is any free one',
    ...options,
  });
}

function url(description: string) {
  return Type.String({
    group: 'Addresses',
    value: 'URL',
    description,
    defaultText: 'the address of its listener',
    pattern: `^https?://(?:\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(?::${port})?(?:/[^\\s/?#]+)*$`,
    must: 'be an absolute http or https URL without user, query, fragment or a slash at its end',
  });
}

function file(group: string, description: string, options: TSchemaOptions = {}) {
  const must = 'be a path';
  return Type.String({ group, value: 'FILE', description, pattern: '^[^\\0]+$', must, ...options });
}

function whole(
  group: string,
  description: string,
  options: TSchemaOptions & { minimum: number; maximum?: number },
) {
  return Type.Integer({ group, value: 'N', description, maximum: Number.MAX_SAFE_INTEGER, ...options });
}

function bytes(
  group: string,
  description: string,
  options: TSchemaOptions & { minimum: number; maximum?: number },
) {
  return whole(group, description, { value: 'BYTES', size: true, ...options });
}
