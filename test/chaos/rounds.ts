import { spawnSync } from 'node:child_process';
import { needing } from '../support/needing.ts';

const { status } = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', 'true']);
const why = status === 0 ? undefined : 'needs separate namespaces: run it as root';

/** Declares tests that run rounds, if the required programs are installed. */
export const rounds = needing('haproxy', 'iproute2', 'nftables', 'postgresql', { why }).test;
