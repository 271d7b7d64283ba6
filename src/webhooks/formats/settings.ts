import { Refusal } from '../../contract/errors.ts';
import { type WebhookFormat, webhookFormats } from '../../contract/webhook-formats.ts';
import type { Webhook } from '../../storage/lmdb/records.ts';
import { getFormat } from './formats.ts';

type FormatFields = Pick<Webhook, 'format' | 'project' | 'issueType' | 'authorization'>;

interface WantedFormat {
  readonly url?: string;
  readonly format?: WebhookFormat;
  readonly project?: string;
  readonly issueType?: string;
  readonly authorization?: string | null;
}

const mostInAuthorization = 4096;
const mostInName = 255;

/** Reads the fields of a format; fields of other formats are dropped. @throws {Refusal} `invalid_body` */
export function formatFrom(wanted: WantedFormat, webhook: Webhook | undefined): FormatFields {
  const format = wanted.format ?? (webhook ? getFormat(webhook) : 'standard');
  return {
    ...(format !== 'standard' && { format }),
    ...jiraFrom(format, wanted, webhook),
    ...authorizationFrom(format, wanted, webhook),
  };
}

function jiraFrom(format: WebhookFormat, wanted: WantedFormat, webhook: Webhook | undefined): FormatFields {
  const { project = webhook?.project, issueType = webhook?.issueType } = wanted;
  if (format !== 'jira') {
    if (wanted.project !== undefined || wanted.issueType !== undefined)
      throw new Refusal('invalid_body', '`project` and `issueType` must be omitted unless `format` is jira');
    return {};
  }
  return { project: checked('project', project), issueType: checked('issueType', issueType) };
}

function checked(name: string, text: string | undefined): string {
  if (text && text.length <= mostInName && !/\p{Cc}/u.test(text)) return text;
  const rule = `must have 1 to ${mostInName} characters without control characters, for the format jira`;
  throw new Refusal('invalid_body', `\`${name}\` ${rule}`);
}

function authorizationFrom(format: WebhookFormat, wanted: WantedFormat, webhook: Webhook | undefined): FormatFields {
  const given = wanted.authorization;
  if (given === null) return {};
  if (!webhookFormats[format].isTracker) {
    if (given !== undefined)
      throw new Refusal('invalid_body', '`authorization` must be omitted unless `format` is github, gitlab or jira');
    return {};
  }
  if (given === undefined) return keptAuthorization(wanted, webhook);
  // The pattern is visible characters with spaces in between (RFC 9110 §5.5).
  if (given.length > mostInAuthorization || !/^[!-~]([ -~]*[!-~])?$/.test(given))
    throw new Refusal(
      'invalid_body',
      `\`authorization\` must have 1 to ${mostInAuthorization} visible ASCII characters`,
    );
  return { authorization: given };
}

/** Keeps a credential while the host stays the same. Otherwise an Admin could send it to a host of their own. */
function keptAuthorization({ url }: WantedFormat, webhook: Webhook | undefined): FormatFields {
  const authorization = webhook?.authorization;
  if (authorization === undefined) return {};
  if (url !== undefined && URL.canParse(url) && new URL(url).origin !== new URL(webhook!.url).origin)
    throw new Refusal(
      'invalid_body',
      '`url` must keep its origin, unless `authorization` is sent again or set to null',
    );
  return { authorization };
}
