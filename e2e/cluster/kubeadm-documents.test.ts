import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { initDocuments } from './kubeadm-documents.ts';

const settings = {
  name: 'management',
  address: '172.30.3.10',
  kubernetes: 'v1.36.3',
  pods: '10.163.0.0/16',
  services: '10.195.0.0/16',
};

const documents = (cgroupVersion: 1 | 2): Record<string, unknown>[] =>
  parseAllDocuments(initDocuments({ ...settings, cgroupVersion })).map(
    (document) => document.toJS() as Record<string, unknown>,
  );

test('kubeadm gets an untainted node at its address and the ranges of the harness', () => {
  const [init, cluster] = documents(2);
  expect(init).toMatchObject({
    localAPIEndpoint: { advertiseAddress: '172.30.3.10' },
    nodeRegistration: {
      taints: [],
      imagePullPolicy: 'Never',
      kubeletExtraArgs: [{ name: 'node-ip', value: '172.30.3.10' }],
    },
  });
  expect(cluster).toMatchObject({ networking: { podSubnet: '10.163.0.0/16', serviceSubnet: '10.195.0.0/16' } });
});

test('the kubelet is configured to accept cgroup v1 only on a host with cgroup v1', () => {
  expect(documents(1)[2]).toMatchObject({ kind: 'KubeletConfiguration', failCgroupV1: false });
  expect(documents(2)[2]).not.toHaveProperty('failCgroupV1');
});
