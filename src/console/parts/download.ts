/** Saves a file in the reader's downloads. @param name without the extension; other characters become hyphens */
export function download(name: string, extension: 'csv' | 'md' | 'png', content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.replace(/[^\p{L}\p{N}._-]+/gu, '-')}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
