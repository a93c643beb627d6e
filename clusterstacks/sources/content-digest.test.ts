import { describe, expect, test } from '@jest/globals';

import { contentDigest } from './content-digest.ts';

const file = (name: string, digit: string) => ({ name, digest: `sha256:${digit.repeat(64)}` });
const files = [file('a.yaml', '3'), file('b.yaml', '1'), file('z.tgz', '2')];

describe('The digest of a whole release', () => {
  test('does not depend on the order in which its files are found', () => {
    const digest = contentDigest(files);
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(contentDigest([...files].reverse())).toBe(digest);
  });

  test('differs when two files swap their contents', () => {
    const swapped = [file('a.yaml', '1'), file('b.yaml', '3'), file('z.tgz', '2')];
    expect(contentDigest(swapped)).not.toBe(contentDigest(files));
  });
});
