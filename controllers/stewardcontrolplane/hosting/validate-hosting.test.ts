import { describe, expect, test } from '@jest/globals';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { externalControlPlane } from '../../../testing/builders/external-objects.ts';
import { validate } from '../admission.ts';

const scp = (reference: object | null = {}, endpoint?: object): StewardControlPlane => {
  const manifest = externalControlPlane({}, reference);
  const spec = { ...(manifest.spec as object), controlPlaneEndpoint: endpoint };
  return { ...manifest, spec } as unknown as StewardControlPlane;
};
const endpoint = { host: '192.0.2.7', port: 6443 };
const said = (now: StewardControlPlane, old?: StewardControlPlane): readonly string[] =>
  validate(now, old).map(({ field, reason }) => `${field} ${reason}`);

describe('The reference to another cluster', () => {
  test('may be set from the beginning', () => {
    expect(said(scp())).toEqual([]);
  });

  test('contains a namespace, not a path', () => {
    expect(said(scp({ deploymentNamespace: '../kube-system' }))).toEqual([
      'spec.deployment.externalClusterReference.deploymentNamespace is not a valid name of a namespace',
    ]);
  });

  test.each([
    ['removed', scp(null, endpoint), scp({}, endpoint), 'cannot be removed'],
    ['added', scp({}, endpoint), scp(null, endpoint), 'cannot be added'],
    ['led to another namespace', scp({ deploymentNamespace: 'x' }, endpoint), scp({}, endpoint), 'cannot be changed'],
  ])('cannot be %s once the control plane runs', (_, now, old, why) => {
    expect(said(now, old)).toEqual([expect.stringContaining(why)]);
    expect(said(now)).toEqual([]);
  });

  test('may be changed before anything is created', () => {
    expect(said(scp(null), scp())).toEqual([]);
    expect(said(scp({ deploymentNamespace: 'x' }), scp())).toEqual([]);
  });

  test('may name another Secret at any time', () => {
    const other = { kubeconfigSecretName: 'renewed', kubeconfigSecretKey: 'value' };
    expect(said(scp(other, endpoint), scp({}, endpoint))).toEqual([]);
  });
});
