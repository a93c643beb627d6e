import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { JsonPatchOperation } from './json-patch.ts';
import { kubeletConfig, kubeletConfiguration } from './kubelet-configuration.ts';
import { newestMinor, oldestMinor } from './versions.ts';

const inputs = (minor: number, ...patches: JsonPatchOperation[]) => ({
  version: { major: 1, minor, patch: 0 },
  clusterDomain: 'cluster.local',
  serviceCidr: '10.96.0.0/16',
  patches,
});
const minors = Array.from({ length: newestMinor - oldestMinor + 1 }, (_, index) => oldestMinor + index);

describe('kubeletConfiguration', () => {
  test.each(minors)(
    'for 1.%i contains whether a cgroup v1 host is refused, as the kubelet of that minor does',
    (minor) => {
      const expected = minor >= 35 ? true : minor >= 31 ? false : undefined;
      expect(kubeletConfiguration(inputs(minor)).failCgroupV1).toBe(expected);
    },
  );

  test.each([
    ['podLogsDir', 30],
    ['crashLoopBackOff', 32],
    ['mergeDefaultEvictionSettings', 33],
    ['memoryReservationPolicy', 36],
  ])('contains %s from 1.%i on, which introduced it', (field, since) => {
    expect(minors.filter((minor) => field in kubeletConfiguration(inputs(minor)))).toEqual(
      minors.filter((minor) => minor >= since),
    );
  });

  // https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
  test.each([
    [29, ['seccompDefault']],
    [31, ['failCgroupV1', 'seccompDefault']],
    [36, ['mergeDefaultEvictionSettings', 'seccompDefault']],
  ])('for 1.%i enables everything but %j, like the defaults of the kubelet', (minor, off) => {
    const fields = Object.entries(kubeletConfiguration(inputs(minor)));
    expect(fields.flatMap(([name, value]) => (value === false ? [name] : [])).sort()).toEqual(off);
  });

  test.each(minors)('for 1.%i allows no access that the API server does not authenticate', (minor) => {
    const { authentication, authorization } = kubeletConfiguration(inputs(minor));
    expect(authentication).toMatchObject({ anonymous: { enabled: false }, webhook: { enabled: true } });
    expect(authorization).toMatchObject({ mode: 'Webhook' });
  });

  test.each(minors)('for 1.%i contains nothing that an older kubelet without the feature gate refuses', (minor) => {
    const found = kubeletConfiguration(inputs(minor));
    expect(found).not.toHaveProperty('imagePullCredentialsVerificationPolicy');
    expect(found).not.toHaveProperty('crashLoopBackOff.maxContainerRestartPeriod');
  });

  test('uses systemd like kubeadm, or the requested driver', () => {
    expect(kubeletConfiguration(inputs(36))).toMatchObject({ cgroupDriver: 'systemd' });
    expect(kubeletConfiguration({ ...inputs(36), cgroupDriver: 'cgroupfs' })).toMatchObject({
      cgroupDriver: 'cgroupfs',
    });
  });

  test('gives kubelets the given DNS addresses', () => {
    expect(kubeletConfiguration({ ...inputs(36), dnsServiceIPs: ['10.96.3.3'] })).toMatchObject({
      clusterDNS: ['10.96.3.3'],
    });
  });

  test('is patched last: defaults can be tested, replaced and really removed', () => {
    const patched = kubeletConfiguration(
      inputs(
        36,
        { op: 'test', path: '/maxPods', value: 110 },
        { op: 'replace', path: '/maxPods', value: 50 },
        { op: 'remove', path: '/failCgroupV1' },
        { op: 'add', path: '/memorySwap/swapBehavior', value: 'LimitedSwap' },
        { op: 'add', path: '/featureGates', value: { X: true } },
        { op: 'replace', path: '/cgroupDriver', value: 'cgroupfs' },
      ),
    );
    expect(patched).toMatchObject({
      maxPods: 50,
      memorySwap: { swapBehavior: 'LimitedSwap' },
      cgroupDriver: 'cgroupfs',
    });
    expect(patched).not.toHaveProperty('failCgroupV1');
    expect(kubeletConfiguration(inputs(36))).toHaveProperty('failCgroupV1', true);
  });

  test('refuses patches that fail, or that change its kind', () => {
    expect(() => kubeletConfiguration(inputs(36, { op: 'remove', path: '/nothing' }))).toThrow(
      'configurationJSONPatches[0]',
    );
    expect(() => kubeletConfiguration(inputs(36, { op: 'replace', path: '/kind', value: 'Other' }))).toThrow(
      'configurationJSONPatches change the apiVersion or kind of the document: leave apiVersion kubelet.config.k8s.io/v1beta1',
    );
  });

  test('is written into the ConfigMap that kubeadm join reads', () => {
    const manifest = kubeletConfig(inputs(36));
    expect(manifest.metadata).toMatchObject({ name: 'kubelet-config', namespace: 'kube-system' });
    expect(parse((manifest.data as Record<string, string>).kubelet ?? '')).toEqual(kubeletConfiguration(inputs(36)));
  });
});
