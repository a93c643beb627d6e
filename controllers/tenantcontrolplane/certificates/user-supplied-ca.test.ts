import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { asStored } from '../../../api/as-stored.ts';
import type { SuppliedPurpose } from '../../../api/cluster-api/supplied-secrets.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { issue, issueCa, issueServiceAccountKeys } from '../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { suppliedSecret } from '../../../testing/builders/supplied-secret.ts';
import { suppliedRoot } from './user-supplied-ca.ts';

const now = new Date('2026-03-01T12:00:00Z');
const day = 24 * 60 * 60 * 1000;
const algorithm = 'ECDSA-P256';
const cluster = 'c';
const at = (days: number) =>
  ({ algorithm, lifetime: lifetimeFrom(new Date(now.getTime() + days * day), day) }) as const;

let own: KeyPair;
let others: KeyPair;
let expired: KeyPair;
let future: KeyPair;
let leaf: KeyPair;
let tokens: KeyPair;

beforeAll(async () => {
  const profile = { commonName: 'Example Corp', usages: [] };
  [own, others, expired, future] = await Promise.all([
    issueCa(profile, at(0)),
    issueCa(profile, at(0)),
    issueCa(profile, at(-9)),
    issueCa(profile, at(9)),
  ]);
  leaf = await issue(profile, own, at(0));
  const { publicKey, privateKey } = await issueServiceAccountKeys(algorithm);
  tokens = { certificate: publicKey, key: privateKey };
});

const found = (secret: Secret | undefined, purpose: SuppliedPurpose = 'ca') =>
  suppliedRoot(secret, { cluster, purpose, now, isInPlace: false });
const supplied = (pair: KeyPair, changes: Parameters<typeof suppliedSecret>[2] = {}): Secret =>
  asStored(suppliedSecret({ cluster, purpose: 'ca' }, pair, changes));
const controller = { apiVersion: 'example.com/v1', kind: 'Certificate', name: 'x', uid: 'u', controller: true };
const tenant = { ...controller, apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantControlPlane' };

describe('A Secret that was supplied for a Cluster', () => {
  test.each(['ca', 'proxy'] as const)('is used byte by byte as its %s', (purpose) => {
    expect(found(supplied(own), purpose)).toEqual({ is: 'fit', pair: own });
  });

  test('may have the type that the Cluster API book documents', () => {
    expect(found(supplied(own, { type: 'kubernetes.io/tls' }))).toEqual({ is: 'fit', pair: own });
  });

  test('with the service-account keys contains the public half in place of the certificate', () => {
    expect(found(supplied(tokens), 'sa')).toEqual({ is: 'fit', pair: tokens });
  });

  test.each([
    ['no Secret', undefined],
    ['a Secret without the label', { labels: {} }],
    ['a Secret for another Cluster', { labels: { [clusterNameLabel]: 'another' } }],
    ['what Steward published', { labels: { [clusterNameLabel]: cluster, 'steward.butlerlabs.dev/component': 'capi' } }],
    ['what a tenant has made', { ownerReferences: [tenant] }],
  ])('is not %s', (_name, metadata) => {
    const { metadata: before } = supplied(own);
    const secret = metadata === undefined ? undefined : supplied(own, { metadata: { ...before, ...metadata } });
    expect(found(secret)).toEqual({ is: 'none' });
  });

  test.each<[string, SuppliedPurpose, () => Secret, RegExp]>([
    ['another type', 'ca', () => supplied(own, { type: 'Opaque' }), /type is Opaque instead of/],
    ['a controller', 'ca', () => supplied(own, { metadata: { ownerReferences: [controller] } }), /Certificate x/],
    ['no key', 'ca', () => supplied({ ...own, key: '' }), /tls.key is empty/],
    ['nonsense', 'ca', () => supplied({ ...own, certificate: 'nonsense' }), /no certificate in PEM form/],
    ['another’s key', 'ca', () => supplied({ ...own, key: others.key }), /private key does not belong/],
    ['a leaf', 'ca', () => supplied(leaf), /not a CA certificate/],
    ['an expired authority', 'ca', () => supplied(expired), /expired at 2026-02-2/],
    ['an authority of tomorrow', 'proxy', () => supplied(future), /not valid before/],
    [
      'its private key beside the certificate',
      'ca',
      () => supplied({ ...own, certificate: own.certificate + own.key }),
      /more than one PEM block/,
    ],
    [
      'a chain',
      'ca',
      () => supplied({ ...own, certificate: own.certificate + others.certificate }),
      /more than one PEM block/,
    ],
    [
      'two authorities',
      'ca',
      () => supplied(own, { data: { ...supplied(own).data, 'ca.crt': 'eA==', 'ca.key': 'eA==' } }),
      /another under tls.crt/,
    ],
    ['a certificate for the public half', 'sa', () => supplied(own), /only the public half .* PEM block PUBLIC KEY/],
    [
      'a public half in the form that kube-apiserver does not read',
      'sa',
      () => {
        const { publicKey, privateKey } = generateKeyPairSync('rsa', {
          modulusLength: 2048,
          publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
          privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        });
        return supplied({ certificate: publicKey, key: privateKey });
      },
      /RSA PUBLIC KEY, which kube-apiserver does not read/,
    ],
    ['another’s public half', 'sa', () => supplied({ ...tokens, key: own.key }), /not the public half/],
    [
      'the private key twice',
      'sa',
      () => supplied({ certificate: tokens.key, key: tokens.key }),
      /must hold only the public half of .* PUBLIC KEY/,
    ],
  ])('with %s is unusable as %s, and the message says why without a key', (_name, purpose, secret, why) => {
    const result = found(withLabel(secret()), purpose);
    expect(result).toEqual({ is: 'unfit', why: expect.stringMatching(why) });
    expect(JSON.stringify(result)).not.toContain('PRIVATE KEY');
  });
});

function withLabel(secret: Secret): Secret {
  return { ...secret, metadata: { ...secret.metadata, labels: { [clusterNameLabel]: cluster } } };
}
