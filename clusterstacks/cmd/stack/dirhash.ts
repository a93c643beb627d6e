import { createHash } from 'node:crypto';
import type { Files } from './release-files.ts';

const sha256 = (bytes: string | Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** A hash in Base64 as csctl shortens it: lower case, without special characters. */
const cleaned = (hash: Buffer): string => hash.toString('base64').replaceAll(/[/=+]/g, '').toLowerCase();

/** Go's order: by bytes, not by the language of the machine. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/**
 * The hash of a tree as Go's `dirhash.Hash1` has it (https://pkg.go.dev/golang.org/x/mod/sumdb/dirhash): the SHA-256 of lines with
 * the SHA-256 and the path of each file, in the spelling of csctl.
 */
export function treeHash(files: Files): string {
  const lines = [...files.keys()].sort(byBytes).map((path) => {
    return `${sha256(files.get(path) ?? '').toString('hex')}  ${path}\n`;
  });
  return cleaned(sha256(lines.join('')));
}

/** The hash of one file, in the spelling of csctl. */
export const fileHash = (bytes: Buffer): string => cleaned(sha256(bytes));
