import { describe, expect, test } from '@jest/globals';
import { asStored, storedMeta } from '../../../../api/as-stored.ts';
import type { CertificateSigningRequest, Node } from '../../../../api/core/kinds.ts';
import { parseCidr } from '../../../../kubeadm/networks.ts';
import { requestPem, signingRequest } from '../../../../testing/builders/serving-certificate-request.ts';
import type { Wanted } from '../../../../testing/builders/serving-certificate-request.ts';
import { isPending, evaluateNames, readServingRequest } from './serving-request.ts';
import type { ServingRules } from './serving-request.ts';

const rules: ServingRules = {
  allowedSubnets: [],
  controlPlane: new Set(['api.example.org', '192.0.2.1']),
  serviceNetworks: [parseCidr('10.96.0.0/16', 'x')],
  clusterDomain: 'cluster.local',
};
const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: storedMeta({ name: 'worker-1' }),
  status: {
    addresses: [
      { type: 'Hostname', address: 'worker-1' },
      { type: 'InternalDNS', address: 'worker-1.internal.example' },
      { type: 'InternalIP', address: '192.0.2.9' },
      { type: 'ExternalIP', address: 'fd00:0::9' },
    ],
  },
};

type Spec = Partial<CertificateSigningRequest['spec']>;

async function verdict(wanted: Wanted, spec: Spec = {}, more: Partial<ServingRules> = {}): Promise<string> {
  const read = readServingRequest(asStored(signingRequest('csr', await requestPem(wanted), spec)), {
    ...rules,
    ...more,
  });
  if (read.is === 'left') return read.why;
  const evaluated = evaluateNames(read, read.node === 'worker-1' ? node : undefined);
  return evaluated.is === 'left' ? `${evaluated.why}${evaluated.mayFit ? ' yet' : ''}` : 'approved';
}

describe('a request for a serving certificate', () => {
  test.each<[string, Wanted]>([
    ['its name and address', {}],
    ['an address alone', { dnsNames: [], ipAddresses: ['192.0.2.9'] }],
    [
      'all that it reports',
      { dnsNames: ['worker-1', 'worker-1.internal.example'], ipAddresses: ['192.0.2.9', 'fd00::9'] },
    ],
  ])('of a node for %s is approved', async (_what, wanted) => {
    expect(await verdict(wanted)).toBe('approved');
  });

  test.each<[string, Wanted, Spec, string]>([
    ['another signer', {}, { signerName: 'kubernetes.io/kube-apiserver-client' }, 'is not for the signer'],
    ['a user', {}, { username: 'jane' }, 'was not created by a node'],
    ['a user named like a group of nodes', {}, { username: 'system:nodes:worker-1' }, 'was not created by a node'],
    ['a node of no name', {}, { username: 'system:node:' }, 'was not created by a node'],
    ['a user who is in no group of nodes', {}, { groups: ['system:authenticated'] }, 'was not created by a node'],
    ['a node for client authentication', {}, { usages: ['digital signature', 'client auth'] }, 'requests usages other'],
    ['a node for both', {}, { usages: ['digital signature', 'server auth', 'client auth'] }, 'requests usages other'],
    [
      'a node for another',
      { commonName: 'system:node:worker-2' },
      {},
      'was created by node worker-1 but names another subject',
    ],
    [
      'another node for this one',
      {},
      { username: 'system:node:worker-2' },
      'was created by node worker-2 but names another subject',
    ],
    ['a node that is to be an administrator', { organization: 'system:masters' }, {}, 'requests a group other'],
    ['a node for nothing', { dnsNames: [], ipAddresses: [] }, {}, 'requests neither a name'],
    [
      'a node for a foreign name',
      { dnsNames: ['worker-2'] },
      {},
      'requests worker-2, which node worker-1 does not report yet',
    ],
    ['a node for a foreign address', { ipAddresses: ['192.0.2.10'] }, {}, 'requests 192.0.2.10, which node worker-1'],
    ['a node for one foreign among its own', { dnsNames: ['worker-1', 'worker-2'] }, {}, 'requests worker-2, which'],
    ['a node for any name', { dnsNames: ['*.example.org'] }, {}, 'requests a name that is not a DNS name'],
    ['a node for the API server', { dnsNames: ['kubernetes.default.svc'] }, {}, 'a name of the cluster itself'],
    ['a node for a Service', { dnsNames: ['db.prod.svc.cluster.local'] }, {}, 'a name of the cluster itself'],
    ['a node for the endpoint', { dnsNames: ['api.example.org'] }, {}, 'a name of the cluster itself'],
    ['a node for the address of the endpoint', { ipAddresses: ['192.0.2.1'] }, {}, 'an address of the cluster itself'],
    ['a node for the address of a Service', { ipAddresses: ['10.96.0.1'] }, {}, 'an address of the cluster itself'],
    [
      'a node for more names than any has',
      { dnsNames: Array.from({ length: 65 }, (_, at) => `n${at}`) },
      {},
      'more than 64',
    ],
    ['a node that asks nothing readable', {}, { request: 'AAAA' }, 'is not a single certificate request'],
  ])('of %s is not approved', async (_what, wanted, spec, expected) => {
    expect(await verdict(wanted, spec)).toContain(expected);
  });

  test('of a node that does not exist yet may be approved later', async () => {
    const wanted = { commonName: 'system:node:worker-3' };
    expect(await verdict(wanted, { username: 'system:node:worker-3' })).toBe(
      'was created by node worker-3, which does not exist yet',
    );
  });

  test('names addresses of the allowed subnets only, if there are any', async () => {
    const within = (subnet: string): Promise<string> => verdict({}, {}, { allowedSubnets: [parseCidr(subnet, 'x')] });
    expect(await within('192.0.2.0/24')).toBe('approved');
    expect(await within('198.51.100.0/24')).toBe('requests 192.0.2.9, which is in none of the allowed subnets');
  });

  test('is pending until it was approved or denied', () => {
    const request = asStored<CertificateSigningRequest>(signingRequest('csr', ''));
    const condition = (type: string) => ({ type, status: 'True' });
    expect(isPending(request)).toBe(true);
    for (const type of ['Approved', 'Denied', 'Failed']) {
      expect(isPending({ ...request, status: { conditions: [condition(type)] } })).toBe(false);
    }
  });
});
