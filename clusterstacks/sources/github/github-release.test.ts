import { describe, expect, test } from '@jest/globals';

import { githubRelease } from './github-release.ts';

describe('An answer of GitHub', () => {
  test.each([null, undefined, 'v1', 1, [], {}, { tag_name: 1 }])('that is %j is not a release', (value) => {
    expect(githubRelease(value, 'https://github.com/team/stacks')).toBeUndefined();
  });
});
