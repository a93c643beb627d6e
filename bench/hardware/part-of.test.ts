import { describe, expect, test } from '@jest/globals';

import { partOnKubeadm, partOnManagement } from './part-of.ts';

describe('A process of a machine that kubeadm made a control plane of', () => {
  test.each([
    ['kube-apiserver', 'control planes'],
    // The kernel keeps 15 characters of a name.
    ['kube-controller', 'control planes'],
    ['kube-scheduler', 'control planes'],
    ['etcd', 'etcd'],
    ['kubelet', 'below'],
    ['kube-proxy', 'below'],
    ['pause', 'below'],
  ])('that is called %s belongs to: %s', (command, part) => {
    expect(partOnKubeadm({ command })).toBe(part);
  });
});

describe('A process of the management node', () => {
  test('belongs to whose pod it runs in, except for the pause container', () => {
    expect(partOnManagement({ command: 'kube-apiserver', pod: 'tenant' })).toBe('control planes');
    expect(partOnManagement({ command: 'etcd', pod: 'datastore' })).toBe('etcd');
    expect(partOnManagement({ command: 'MainThread', pod: 'manager' })).toBe('manager');
    expect(partOnManagement({ command: 'pause', pod: 'tenant' })).toBe('below');
  });

  test('is below when it is of the management cluster itself', () => {
    expect(partOnManagement({ command: 'kube-apiserver', pod: undefined })).toBe('below');
    expect(partOnManagement({ command: 'etcd', pod: undefined })).toBe('below');
  });
});
