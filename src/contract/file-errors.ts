const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'it already exists',
  EISDIR: 'it is a directory',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'a part of its path is not a directory',
  EPERM: 'permission denied',
  EROFS: 'its file system is read-only',
  UTF16: 'the file is UTF-16; save it as UTF-8',
};

/** Returns the reason of an error of the file system, for people; `undefined` for other errors. */
export function findFileReason(error: unknown): string | undefined {
  return reasons[(error as { readonly code?: string }).code ?? ''];
}

export function describeFileError(error: unknown): string {
  return findFileReason(error) ?? (error as Error).message;
}
