import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { evaluateKubeconfig, kubeconfig, parseKubeconfig } from './kubeconfig.ts';
import type { Kubeconfig, KubeconfigExpectation } from './kubeconfig.ts';
import { issue, issueCa } from './pki/issue.ts';
import type { KeyPair } from './pki/key-pair.ts';
import { caValidityMs, certificateValidityMs, lifetimeFrom } from './pki/lifetime.ts';
import { authorityProfiles, clientProfiles } from './pki/profiles.ts';

const now = new Date('2026-03-01T12:00:00Z');
const algorithm = 'ECDSA-P256';
const { profile } = clientProfiles['admin.conf'];
const server = 'https://api.example.org:6443';

let ca: KeyPair;
let otherCa: KeyPair;
let given: Kubeconfig;

beforeAll(async () => {
  const lifetime = lifetimeFrom(now, caValidityMs);
  ca = await issueCa(authorityProfiles.ca, { algorithm, lifetime });
  otherCa = await issueCa(authorityProfiles.ca, { algorithm, lifetime });
  const client = await issue(profile, ca, { algorithm, lifetime: lifetimeFrom(now, certificateValidityMs) });
  given = { clusterName: 'tenant-00', server, ca: ca.certificate, user: profile.commonName, client };
});

const reason = (content: string | undefined, change: Partial<KubeconfigExpectation> = {}): string => {
  const verdict = evaluateKubeconfig(content, {
    clusterName: 'tenant-00',
    server,
    ca: ca.certificate,
    profile,
    now,
    thresholdMs: 24 * 60 * 60 * 1000,
    ...change,
  });
  return verdict.keep ? 'kept' : verdict.reason;
};

describe('kubeconfig', () => {
  test('is block YAML without a document marker, with one trailing newline', () => {
    const text = kubeconfig(given);
    expect(text).toMatch(/^apiVersion: v1\nclusters:\n- cluster:\n {4}certificate-authority-data: /);
    expect(text).toMatch(/[^\n]\n$/);
    expect(text).not.toContain('---');
    expect(text).toContain('current-context: kubernetes-admin@tenant-00\n');
  });

  test('can be merged with another one, of which the later wins', () => {
    const both = kubeconfig(given) + kubeconfig({ ...given, clusterName: 'later' });
    expect(parse(both, { uniqueKeys: false })).toMatchObject({ 'current-context': 'kubernetes-admin@later' });
  });

  test('is unchanged after it is parsed and written again, whatever the names', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('on', 'yes', 'null', 'y', 'e1', 'a-b', 'true', 'x123', '0x10', '1e3'),
        (clusterName) => {
          const config = { ...given, clusterName };
          expect(parseKubeconfig(kubeconfig(config))).toEqual(config);
        },
      ),
    );
    expect(kubeconfig({ ...given, clusterName: 'on' })).toContain('name: "on"');
  });
});

describe('evaluateKubeconfig', () => {
  test('keeps one for the same cluster, server, CA and user', () => {
    expect(reason(kubeconfig(given))).toBe('kept');
  });

  test.each<[string, () => [string | undefined, Partial<KubeconfigExpectation>?]]>([
    ['Missing', () => [undefined]],
    ['Missing', () => ['']],
    ['Malformed', () => ['[']],
    ['Malformed', () => ['{}']],
    ['WrongCluster', () => [kubeconfig({ ...given, clusterName: 'other' })]],
    ['WrongServer', () => [kubeconfig({ ...given, server: 'https://old.example.org:6443' })]],
    ['WrongAuthority', () => [kubeconfig({ ...given, ca: otherCa.certificate })]],
    ['UntrustedIssuer', () => [kubeconfig({ ...given, ca: otherCa.certificate }), { ca: otherCa.certificate }]],
    ['WrongSubject', () => [kubeconfig(given), { profile: clientProfiles['super-admin.conf'].profile }]],
    ['NearExpiry', () => [kubeconfig(given), { now: new Date(now.getTime() + certificateValidityMs - 1000) }]],
  ])('finds %s', (expected, arrange) => {
    const [content, change] = arrange();
    expect(reason(content, change)).toBe(expected);
  });
});
