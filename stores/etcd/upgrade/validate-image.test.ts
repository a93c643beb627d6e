import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { validateImage } from './validate-image.ts';
import type { ImageChange } from './validate-image.ts';

const image = (version: string): string => `registry.k8s.io/etcd:${version}-0`;

/** From 3.6.16, with three healthy members, unless it says otherwise. */
function refusal(to: string, over: Partial<ImageChange> = {}): string | undefined {
  const change = { field: 'f', image: to, oldImage: image('3.6.16'), storageVersion: '3.6' };
  const [first] = validateImage({ ...change, members: { wanted: 3, settled: 3 }, ...over });
  return first === undefined ? undefined : new InvalidInputError(first).message;
}

const allowed = undefined;

describe('validateImage', () => {
  test.each([
    ['another patch', image('3.6.14'), {}],
    ['the next minor', image('3.7.3'), {}],
    ['the same image while members are missing', image('3.6.16'), { members: { wanted: 3, settled: 0 } }],
    ['another patch while members are missing', image('3.6.18'), { members: { wanted: 3, settled: 1 } }],
    [
      'the way back while the upgrade is under way',
      image('3.6.16'),
      { oldImage: image('3.7.3'), members: { wanted: 3, settled: 1 } },
    ],
    [
      'another patch while the upgrade is under way',
      image('3.7.4'),
      { oldImage: image('3.7.3'), members: { wanted: 3, settled: 1 } },
    ],
    [
      'the previous minor once the downgrade is enabled in etcd',
      image('3.6.16'),
      { oldImage: image('3.7.3'), storageVersion: '3.6' },
    ],
    ['a tag of another publisher', 'localhost:5000/bitnami/etcd:v3.7.3-debian-12-r1@sha256:abc', {}],
    ['from an image without a version', image('3.7.3'), { oldImage: 'etcd:latest', storageVersion: undefined }],
    ['from a version that is too old to another one', image('3.6.13'), { oldImage: image('3.6.12') }],
  ] as const)('allows %s', (_, to, over) => {
    expect(refusal(to, over)).toBe(allowed);
  });

  test.each([
    [
      'a skipped minor',
      image('3.8.1'),
      {},
      'f "registry.k8s.io/etcd:3.8.1-0" skips 3.7: the format of the data is that of 3.6: upgrade to the newest 3.7 first, wait until status.etcd.storageVersion of the DataStore is 3.7, and try again',
    ],
    [
      'a skipped minor by the data, not by the image before it',
      image('3.8.1'),
      { oldImage: image('3.7.3') },
      /skips 3\.7: the format of the data is that of 3\.6/,
    ],
    ['a skipped minor when only the image is known', image('3.8.1'), { storageVersion: undefined }, /skips 3\.7/],
    [
      'a skipped minor from 3.5',
      image('3.7.3'),
      { oldImage: image('3.5.35'), storageVersion: undefined },
      /skips 3\.6/,
    ],
    [
      'a downgrade that is not enabled in etcd',
      image('3.6.16'),
      { oldImage: image('3.7.3'), storageVersion: '3.7' },
      'f "registry.k8s.io/etcd:3.6.16-0" cannot read the data, whose format is that of 3.7: run etcdctl downgrade enable 3.6, wait until status.etcd.storageVersion of the DataStore is 3.6, and try again',
    ],
    [
      'an upgrade while a member is missing',
      image('3.7.3'),
      { members: { wanted: 3, settled: 2 } },
      /is a new minor version, but only 2 of 3 members are ready and up to date: wait for the rollout, or repair/,
    ],
    [
      'a version that lets tenants read each other',
      image('3.7.0'),
      {},
      /is older than a datastore may be that tenants share: use 3\.6\.14/,
    ],
    ['a pre-release of such a version', image('3.7.1-rc.0'), {}, /is older than/],
    [
      'an image without a tag',
      'registry.k8s.io:443/etcd',
      {},
      /has no version of etcd 3 in its tag: use a tag such as/,
    ],
    ['an image without a version', 'etcd:latest', {}, /has no version/],
    ['an image with a longer number', 'etcd:3.7.3.1', {}, /has no version/],
    ['etcd 4', 'etcd:4.0.0', {}, /has no version of etcd 3/],
  ] as const)('refuses %s', (_, to, over, message) => {
    if (typeof message === 'string') expect(refusal(to, over)).toBe(message);
    else expect(refusal(to, over)).toMatch(message);
  });

  test('allows the minor version of the data and the next one, and no other', () => {
    const minors = fc.integer({ min: 6, max: 40 });
    fc.assert(
      fc.property(minors, minors, minors, (data, old, wanted) => {
        const over = { oldImage: image(`3.${old}.20`), storageVersion: `3.${data}` };
        const isAllowed = refusal(image(`3.${wanted}.21`), over) === undefined;
        expect(isAllowed).toBe(wanted === data || wanted === data + 1);
      }),
    );
  });
});
