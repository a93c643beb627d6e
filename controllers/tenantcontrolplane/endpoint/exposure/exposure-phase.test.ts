import { expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { published } from '../../../../testing/worlds/published-world.ts';

test('routes that could not be created are reported with the reason, and stop no other phase', async () => {
  const world = await published({});
  const before = (await world.read()).status?.controlPlaneEndpoint;
  world.cluster.before(({ kind, verb }) => {
    if (kind?.kind === kinds.Ingress.kind && verb === 'apply') throw new ApiError(403, 'Forbidden', 'no Ingress here');
  });
  await world.change({ spec: { controlPlane: { ingress: { hostname: 'a.example.com' } } } });
  await world.settle();
  const message = 'applying Ingress default/tenant: no Ingress here';
  expect(await world.condition('EndpointReady')).toBe(`False Forbidden: ${message}`);
  expect(await world.condition('ControlPlaneAvailable')).toBe('True');
  expect(await world.condition('CertificatesReady')).toBe('True');
  // The routes do not take over.
  expect(before).not.toBe(undefined);
  expect((await world.read()).status?.controlPlaneEndpoint).toBe(before);
});
