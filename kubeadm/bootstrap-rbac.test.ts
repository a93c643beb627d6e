import { expect, test } from '@jest/globals';
import { bootstrapRbac } from './bootstrap-rbac.ts';

const approver = 'system:certificates.k8s.io:certificatesigningrequests';
const boundTo = (role: string): readonly unknown[] =>
  bootstrapRbac()
    .filter(({ roleRef }) => (roleRef as { readonly name?: string } | undefined)?.name === role)
    .flatMap(({ subjects }) => subjects as readonly { readonly name: string }[])
    .map(({ name }) => name);

test('a joining node is issued its first certificate, and only a node can renew its own', () => {
  expect(boundTo(`${approver}:nodeclient`)).toEqual(['system:bootstrappers:kubeadm:default-node-token']);
  expect(boundTo(`${approver}:selfnodeclient`)).toEqual(['system:nodes']);
});

test('only administrators have administrator permissions, and only the API server may access kubelets', () => {
  expect(boundTo('cluster-admin')).toEqual(['kubeadm:cluster-admins']);
  expect(boundTo('system:kubelet-api-admin')).toEqual(['kube-apiserver-kubelet-client']);
});
