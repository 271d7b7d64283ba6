import { threadStart } from '../../runtime/answer-calls.ts';
import { ThreadCalls } from '../../runtime/thread-calls.ts';
import type { FrontStart } from './front-start.ts';
import { FrontThread } from './front-thread.ts';

const { channel, ...start } = threadStart<FrontStart>();
new ThreadCalls(channel, new FrontThread(start));
