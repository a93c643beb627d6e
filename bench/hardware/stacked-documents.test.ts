import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import { initDocuments, joinDocuments } from './stacked-documents.ts';

describe('The documents of a control plane of kubeadm', () => {
  const cluster = {
    name: 'own-0',
    kubernetes: 'v1.36.3',
    endpoint: '172.30.0.10:6443',
    token: 'abcdef.0123456789abcdef',
    certificateKey: 'a'.repeat(64),
    cgroupVersion: 1,
  } as const;
  const read = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Record<string, unknown>);

  test('leave etcd and the programs as kubeadm makes them', () => {
    const documents = read(initDocuments(cluster, { name: 'own-0-0', address: '172.30.0.10' }));
    const configuration = documents.find(({ kind }) => kind === 'ClusterConfiguration');
    expect(Object.keys(configuration ?? {}).toSorted()).toEqual([
      ...['apiVersion', 'clusterName', 'controlPlaneEndpoint', 'encryptionAlgorithm', 'kind', 'kubernetesVersion'],
    ]);
  });

  test('let the others join as control planes, by the token and the key of the first', () => {
    const [join] = read(joinDocuments(cluster, { name: 'own-0-1', address: '172.30.0.11' }));
    expect(join).toMatchObject({
      kind: 'JoinConfiguration',
      discovery: { bootstrapToken: { apiServerEndpoint: cluster.endpoint, token: cluster.token } },
      controlPlane: { certificateKey: cluster.certificateKey, localAPIEndpoint: { advertiseAddress: '172.30.0.11' } },
    });
  });
});
