import type { Api } from './api.ts';
import type { Context } from './context.ts';
import type { Reader } from './fields.ts';
import { teamId, userId } from './find.ts';
import { readSecretFile } from './secret-file.ts';
import { readTime } from './time.ts';

/** How the fields of a request are read. */
export function readerOf(context: Context, api: Api): Reader {
  return {
    secretFile: (path, flag) => readSecretFile(flag, path, context),
    teamId: (named) => teamId(api, named),
    userId: (named) => userId(api, named),
    time: (text, flag) => readTime(text, flag, context.clock.now()),
  };
}
