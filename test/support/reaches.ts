import { createConnection } from 'node:net';

/** True if a server listens at an address. */
export function reaches(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    const tell = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => tell(true));
    socket.once('error', () => tell(false));
  });
}
