import { describe, expect, test } from '@jest/globals';
import { apiServerProfile, leafProfiles } from './profiles.ts';
import type { PkiInputs } from './profiles.ts';

const inputs: PkiInputs = {
  serviceCidr: '10.96.0.0/16',
  clusterDomain: 'k8s.example.org',
  advertiseAddress: '192.0.2.7',
  controlPlaneEndpoint: 'api.example.org:443',
  certSANs: ['kubernetes', '192.0.2.7', '*.example.org'],
};

describe('profiles', () => {
  test('contain every name of the API server once', () => {
    expect(apiServerProfile(inputs)).toMatchObject({
      dnsNames: [
        '*.example.org',
        'api.example.org',
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        'kubernetes.default.svc.k8s.example.org',
      ],
      ipAddresses: ['10.96.0.1', '192.0.2.7'],
    });
  });

  test('give only the super administrator the group that RBAC cannot restrict', () => {
    const masters = Object.entries(leafProfiles(inputs)).filter(([, { profile }]) =>
      profile.organizations?.includes('system:masters'),
    );
    expect(masters.map(([name]) => name)).toEqual(['super-admin.conf']);
  });

  test('report the invalid field', () => {
    expect(() => apiServerProfile({ ...inputs, advertiseAddress: 'A' })).toThrow('advertiseAddress[0] "A"');
    expect(() => apiServerProfile({ ...inputs, serviceCidr: '10.96.0.0/32' })).toThrow(
      'serviceCidr "10.96.0.0/32" has 1 addresses',
    );
    expect(() => apiServerProfile({ ...inputs, controlPlaneEndpoint: ':1' })).toThrow('controlPlaneEndpoint ":1"');
    expect(() => apiServerProfile({ ...inputs, certSANs: ['a b'] })).toThrow('certSANs[0] "a b"');
  });
});
