import { ThreadCalls, threadStart } from '../../runtime/thread-calls.ts';
import { FrontThread } from './front-thread.ts';
import type { FrontStart } from './messages.ts';

const { channel, ...start } = threadStart<FrontStart>();
new ThreadCalls(channel, new FrontThread(start));
