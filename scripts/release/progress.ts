/** Returns a function that shows progress on one line in a terminal, and on separate lines elsewhere. */
export function createProgress(stream: {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}): (text: string) => void {
  return (text) => void stream.write(stream.isTTY === true ? `\r\x1b[K${text}` : `${text}\n`);
}
