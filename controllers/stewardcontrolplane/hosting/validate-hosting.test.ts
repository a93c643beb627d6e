import { describe, expect, test } from '@jest/globals';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { externalControlPlane } from '../../../testing/builders/external-objects.ts';
import { validate } from '../admission.ts';

const scp = (reference: object | null = {}, endpoint?: object): StewardControlPlane => {
  const manifest = externalControlPlane({}, reference);
  const spec = { ...(manifest.spec as object), ...(endpoint === undefined ? {} : { controlPlaneEndpoint: endpoint }) };
  return { ...manifest, spec } as unknown as StewardControlPlane;
};
const endpoint = { host: '192.0.2.7', port: 6443 };
const said = (now: StewardControlPlane, old?: StewardControlPlane): readonly string[] =>
  validate(now, old).map(({ field, reason }) => `${field} ${reason}`);

describe('Where a control plane runs', () => {
  test('may be another cluster from the beginning', () => {
    expect(said(scp())).toEqual([]);
  });

  test('is a namespace, not a path', () => {
    expect(said(scp({ deploymentNamespace: '../kube-system' }))).toEqual([
      'spec.deployment.externalClusterReference.deploymentNamespace is not a valid name of a namespace',
    ]);
  });

  test.each([
    ['removed', scp(null, endpoint), scp({}, endpoint), 'cannot be removed'],
    ['added', scp({}, endpoint), scp(null, endpoint), 'cannot be added'],
    ['led to another namespace', scp({ deploymentNamespace: 'x' }, endpoint), scp({}, endpoint), 'cannot be changed'],
  ])('cannot be %s once it runs', (_, now, old, why) => {
    expect(said(now, old)).toEqual([expect.stringContaining(why)]);
    expect(said(now)).toEqual([]);
  });

  test('may change before anything is made', () => {
    expect(said(scp(null), scp())).toEqual([]);
    expect(said(scp({ deploymentNamespace: 'x' }), scp())).toEqual([]);
  });

  test('is reached by another Secret whenever its author likes', () => {
    const other = { kubeconfigSecretName: 'renewed', kubeconfigSecretKey: 'value' };
    expect(said(scp(other, endpoint), scp({}, endpoint))).toEqual([]);
  });
});
