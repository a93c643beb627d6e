import { expect, test } from '@jest/globals';
import { kubeconfig, parseKubeconfig } from '../../../kubeadm/kubeconfig.ts';
import { clusterKubeconfig } from './cluster-kubeconfig.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64');
const pem = (what: string): string => `-----BEGIN ${what}-----\nAAAA\n-----END ${what}-----\n`;
const client = { certificate: pem('CERTIFICATE'), key: pem('PRIVATE KEY') };
const admin = {
  clusterName: 'tenant',
  server: 'https://192.0.2.1:6443',
  ca: pem('CERTIFICATE'),
  user: 'kubernetes-admin',
  client,
};

test('The kubeconfig of a Cluster has the names of Cluster API and the content of the tenant’s', () => {
  const text = Buffer.from(clusterKubeconfig(encoded(kubeconfig(admin)), 'prod'), 'base64').toString();
  expect(parseKubeconfig(text)).toEqual({ ...admin, clusterName: 'prod', user: 'prod-admin' });
  expect(text).toContain('current-context: prod-admin@prod');
});

test.each([
  ['a token', 'users: [{name: a, user: {token: x}}]'],
  ['a proxy', kubeconfig(admin).replace(/^( +)server: /m, '$1proxy-url: http://proxy\n$1server: ')],
  ['no YAML', ': : :'],
  ['nothing', ''],
])('A kubeconfig with %s stays as its author created it', (_name, text) => {
  expect(clusterKubeconfig(encoded(text), 'prod')).toBe(encoded(text));
});
