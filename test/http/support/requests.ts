/** Raw HTTP/1.1 requests, as text. */
export const host = 'Host: test\r\n';
export const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\n${host}${fields}\r\n`;
export const post = (path: string, body: string, fields = '') =>
  `POST ${path} HTTP/1.1\r\n${host}Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n${fields}\r\n${body}`;
export const declare = (path: string, length: number, fields = '') =>
  `POST ${path} HTTP/1.1\r\n${host}Content-Length: ${length}\r\n${fields}\r\n`;
export const chunkedHead = (path: string, fields = '') =>
  `POST ${path} HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n${fields}\r\n`;
export const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`;
