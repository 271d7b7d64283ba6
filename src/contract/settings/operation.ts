import Type from 'typebox';
import { file, url, whole } from './kinds.ts';

export const operation = {
  webhookAllowPrivate: Type.Boolean({
    group: 'Webhooks',
    value: '',
    description: 'Allow webhooks to loopback, private and link-local addresses, also over http',
    default: false,
    must: 'be true or false',
  }),
  otlpEndpoint: Type.Optional({
    ...url('URL of the collector for usage and traces (OTLP over HTTP), without /v1/metrics', 'nothing is sent'),
    group: 'OpenTelemetry',
  }),
  otlpHeadersFile: Type.Optional(
    file('OpenTelemetry', 'File with headers for the collector, such as its token, one NAME: VALUE per line'),
  ),
  otlpEvery: whole('OpenTelemetry', 'Interval in seconds for sending usage (0: never)', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 86_400,
    default: 60,
  }),
  otlpTraceOneIn: whole('OpenTelemetry', 'Trace one in N requests (0: none)', { minimum: 0, default: 100 }),
  backupEvery: Type.Optional(
    Type.String({
      group: 'Backup',
      value: 'TIME',
      description: 'Interval between scheduled backups',
      pattern: '^[1-9]\\d{0,3}[mhd]$',
      must: 'be minutes, hours or days, such as 30m, 24h or 7d',
    }),
  ),
  backupTo: Type.Optional(
    Type.String({
      group: 'Backup',
      value: 'DIR',
      description: 'Destination of scheduled backups: a directory, or s3://BUCKET/PREFIX',
      pattern: '^(?!s3:)[^\\0]+$|^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[\\w.=-]+)*/?$',
      must: 'be a directory, or s3://BUCKET/PREFIX; a bucket has 3 to 63 lower-case letters, digits, dots and hyphens',
    }),
  ),
  backupKeep: whole('Backup', 'Number of backups to keep; older backups are removed', {
    minimum: 1,
    maximum: 10_000,
    default: 7,
  }),
  backupKeyFile: Type.Optional(
    file('Backup', 'File with the key that authenticates backups (HMAC-SHA-256): 32 bytes or more'),
  ),
  backupS3Endpoint: Type.Optional(
    Type.String({
      group: 'Backup',
      value: 'URL',
      description: 'Address of the S3-compatible service',
      defaultText: 'AWS in the region',
      pattern: '^https?://(?:\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(?::(?!0+$)\\d{1,5})?$',
      must: 'be http:// or https:// and a host, without user or path',
    }),
  ),
  backupS3Region: Type.String({
    group: 'Backup',
    value: 'NAME',
    description: 'Region for signing requests',
    pattern: '^[a-z0-9-]+$',
    must: 'be the name of a region, such as eu-central-1',
    default: 'us-east-1',
  }),
  backupS3Credentials: Type.Optional(
    file('Backup', 'AWS credentials file with aws_access_key_id and aws_secret_access_key', {
      defaultText: 'the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY',
    }),
  ),
  config: Type.Optional(file('Running', 'JSON file with these settings, named in camelCase or like the options')),
  shutdownGrace: whole('Running', 'Maximum seconds for finishing accepted work after SIGTERM or SIGINT', {
    value: 'SECONDS',
    minimum: 0,
    maximum: 3_600,
    default: 10,
  }),
  shutdownDelay: whole(
    'Running',
    'Seconds to continue serving after SIGTERM or SIGINT, while GET /readyz responds with 503 and load balancers choose other nodes',
    { value: 'SECONDS', minimum: 0, maximum: 3_600, default: 0 },
  ),
  logLevel: Type.Enum(['debug', 'info', 'warn', 'error'], {
    group: 'Running',
    value: 'LEVEL',
    description: 'Minimum level of the log: debug, info, warn or error',
    default: 'info',
    must: 'be debug, info, warn or error',
  }),
  logFormat: Type.Optional(
    Type.Enum(['json', 'text'], {
      group: 'Running',
      value: 'FORMAT',
      description: 'Format of the log: json (one object per line) or text',
      defaultText: 'text on a terminal, otherwise json',
      must: 'be json or text',
    }),
  ),
  slowRequest: whole('Running', 'Duration of a request in ms from which a warning is logged (0: never)', {
    value: 'MS',
    minimum: 0,
    default: 5_000,
  }),
  slowCommit: whole('Running', 'Duration of a commit in ms from which a warning is logged (0: never)', {
    value: 'MS',
    minimum: 0,
    default: 1_000,
  }),
};
