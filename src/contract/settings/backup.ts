import Type from 'typebox';
import { file, whole } from './kinds.ts';

const group = 'Backup';

/** Backups that the server makes by itself. */
export const backup = {
  backupEvery: Type.Optional(
    Type.String({
      group,
      value: 'TIME',
      description: 'Back the data directory up so often',
      pattern: '^[1-9]\\d{0,3}[mhd]$',
      must: 'be minutes, hours or days, such as 30m, 24h or 7d',
    }),
  ),
  backupTo: Type.Optional(
    Type.String({
      group,
      value: 'DIR',
      description: 'Where backups are kept: a directory, or s3://BUCKET/PREFIX',
      pattern: '^(?!s3:)[^\\0]+$|^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[\\w.=-]+)*/?$',
      must: 'be a directory, or s3://BUCKET/PREFIX',
    }),
  ),
  backupKeep: whole(group, 'Backups that are kept there; older ones are removed', {
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
      defaultText: 'that of AWS in the region',
      pattern: '^https?://(?:\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(?::\\d{1,5})?$',
      must: 'be http:// or https:// and a host, without user and path',
    }),
  ),
  backupS3Region: Type.String({
    group,
    value: 'NAME',
    description: 'Region that requests are signed for',
    pattern: '^[a-z0-9-]+$',
    must: 'be the name of a region, such as eu-central-1',
    default: 'us-east-1',
  }),
  backupS3Credentials: Type.Optional(
    file(group, 'File with aws_access_key_id and aws_secret_access_key, as of AWS', {
      defaultText: 'the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY',
    }),
  ),
};
