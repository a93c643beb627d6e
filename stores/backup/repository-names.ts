import { RepositoryError } from './backup-repository.ts';

/** The segments of a name, or of a prefix, which ends with "/". Throws `RepositoryError` unless every repository can have it. */
export function segmentsOf(name: string): readonly string[] {
  const segments = name.replace(/(?<=[^/])\/$/, '').split('/');
  if (segments.every(isSegment)) return segments;
  throw new RepositoryError(`"${name}" is not a name of a file in a repository`);
}

/** Whether a part of a name is one that every repository can have. */
export function isSegment(text: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(text) && !/^\.+$/.test(text);
}
