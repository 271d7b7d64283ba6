/** Arguments that make `serve` use free ports, because the default ports can be in use. */
export const freePorts = ['--listen', '127.0.0.1:0', '--grpc-listen', '127.0.0.1:0'] as const;
