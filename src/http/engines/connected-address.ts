/** The address of a connection is that of its client, where no proxy is in between. */
export const connectedAddress = (connected: string): string => connected;
