import { expect, test } from '@jest/globals';
import { fileHash, treeHash } from './dirhash.ts';

test('The hash of a tree equals that of golang.org/x/mod/sumdb/dirhash, in the spelling of csctl', () => {
  const files = { 'a.txt': 'a\n', 'sub/b.yaml': 'b', Zed: 'c' };
  const tree = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  // dirhash.HashDir: h1:M33tA3BKtFKjPcv+3B3GyddtNai8Rr+5cMQMkKNkHyE=
  expect(treeHash(tree)).toBe('m33ta3bktfkjpcv3b3gyddtnai8rr5cmqmkknkhye');
  expect(treeHash(new Map([...tree].reverse()))).toBe(treeHash(tree));
});

test('The hash of a file is its SHA-256 in the same spelling', () => {
  expect(fileHash(Buffer.from('values'))).toBe('iureoitvqhqszgax9jy6aug9wg0edyisefhycpbdxe');
});
