import { X509Certificate, createPrivateKey } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { caPatch, certificatesIn } from './cert-manager-stand-in.ts';
import { initArguments } from './cluster-api.ts';
import { useLocalImages } from './clusterctl-repository.ts';
import { parseManifests } from './kubernetes-client.ts';
import { selfSignedCertificate } from './self-signed-certificate.ts';

test('clusterctl gets exactly the providers to install', () => {
  expect(
    initArguments([
      { type: 'CoreProvider', name: 'cluster-api', version: 'v1.14.2', folder: '/x' },
      { type: 'ControlPlaneProvider', name: 'steward', version: 'v0.17.0', folder: '/y' },
    ]),
  ).toEqual([
    ...['--core', 'cluster-api:v1.14.2', '--bootstrap', '-'],
    ...['--control-plane', 'steward:v0.17.0', '--infrastructure', '-'],
  ]);
});

test('components name the imported images and do not pull them', () => {
  expect(
    useLocalImages(
      'image: gcr.io/k8s-staging-cluster-api/cluster-api-controller:main\nimagePullPolicy: Always\n',
      'v1.14.2',
    ),
  ).toBe('image: registry.k8s.io/cluster-api/cluster-api-controller:v1.14.2\nimagePullPolicy: IfNotPresent\n');
});

describe('The replacement for cert-manager', () => {
  const manifests = parseManifests(`
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: { name: serving, namespace: sys }
spec: { secretName: pair, dnsNames: [hook.sys.svc] }
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: { name: self, namespace: sys }
`);

  test('finds the Certificates among manifests', () => {
    expect(certificatesIn(manifests)).toEqual([
      { namespace: 'sys', name: 'serving', secretName: 'pair', dnsNames: ['hook.sys.svc'] },
    ]);
  });

  test('issues a key pair that a server can use under its names', async () => {
    const pair = await selfSignedCertificate(['hook.sys.svc', 'hook.sys.svc.cluster.local']);
    const certificate = new X509Certificate(pair.certificate);
    expect(certificate.checkHost('hook.sys.svc.cluster.local')).toBe('hook.sys.svc.cluster.local');
    expect(certificate.checkPrivateKey(createPrivateKey(pair.privateKey))).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });

  test('writes the CA bundle where each kind expects it', () => {
    const crd = { kind: 'CustomResourceDefinition', spec: { conversion: { strategy: 'Webhook' } } };
    expect(caPatch(crd, 'Q0E=')).toEqual({
      spec: { conversion: { webhook: { clientConfig: { caBundle: 'Q0E=' } } } },
    });
    expect(caPatch({ kind: 'CustomResourceDefinition', spec: {} }, 'Q0E=')).toBeUndefined();
    const hook = { name: 'h', clientConfig: { service: { name: 's' } } };
    expect(caPatch({ kind: 'MutatingWebhookConfiguration', webhooks: [hook] }, 'Q0E=')).toEqual({
      webhooks: [{ name: 'h', clientConfig: { service: { name: 's' }, caBundle: 'Q0E=' } }],
    });
  });
});
