/** The address of the connection, which is the client's if there is no proxy. */
export const connectedAddress = (connected: string): string => connected;
