/** Arguments of `serve` for free ports: the default ones may be in use. */
export const freePorts = ['--listen', '127.0.0.1:0', '--grpc-listen', '127.0.0.1:0'] as const;
