import Type from 'typebox';
import { file, whole } from './kinds.ts';

const group = 'Backup';

/** Scheduled backups. */
export const backup = {
  backupEvery: Type.Optional(
    Type.String({
      group,
      value: 'TIME',
      description: 'Interval between scheduled backups',
      pattern: '^[1-9]\\d{0,3}[mhd]$',
      must: 'be minutes, hours or days, such as 30m, 24h or 7d',
    }),
  ),
  backupTo: Type.Optional(
    Type.String({
      group,
      value: 'DIR',
      description: 'Destination of scheduled backups: a directory, or s3://BUCKET/PREFIX',
      pattern: '^(?!s3:)[^\\0]+$|^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[\\w.=-]+)*/?$',
      must: 'be a directory, or s3://BUCKET/PREFIX; a bucket has 3 to 63 lower-case letters, digits, dots and hyphens',
    }),
  ),
  backupKeep: whole(group, 'Number of backups to keep; older ones are removed', {
    minimum: 1,
    maximum: 10_000,
    default: 7,
  }),
  backupKeyFile: Type.Optional(
    file(group, 'File with the key that authenticates backups (HMAC-SHA-256): 32 bytes or more'),
  ),
  backupS3Endpoint: Type.Optional(
    Type.String({
      group,
      value: 'URL',
      description: 'Address of the S3-compatible service',
      defaultText: 'AWS in the region',
      pattern: '^https?://(?:\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(?::(?!0+$)\\d{1,5})?$',
      must: 'be http:// or https:// and a host, without user or path',
    }),
  ),
  backupS3Region: Type.String({
    group,
    value: 'NAME',
    description: 'Region for signing requests',
    pattern: '^[a-z0-9-]+$',
    must: 'be the name of a region, such as eu-central-1',
    default: 'us-east-1',
  }),
  backupS3Credentials: Type.Optional(
    file(group, 'AWS credentials file with aws_access_key_id and aws_secret_access_key', {
      defaultText: 'the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY',
    }),
  ),
};
