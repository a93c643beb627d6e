import { expect, test } from '@jest/globals';
import { readableTitle } from './readable-title.ts';

test.each([
  ['%s denies %j inside the tenant', '… denies … inside the tenant'],
  ['registrySettings.%s is the image of %i containers', 'registrySettings.… is the image of … containers'],
  ['$title is $argo.health for Argo CD', '… is … for Argo CD'],
  ['etcd ${leakyEtcd.version} is found', 'etcd … is found'],
  ['uses 100% of the disk, and $POD_NAMESPACE', 'uses 100% of the disk, and $POD_NAMESPACE'],
])('a reader sees %j as %j', (title, seen) => {
  expect(readableTitle(title)).toBe(seen);
});
