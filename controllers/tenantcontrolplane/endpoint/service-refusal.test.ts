import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../runtime/client/errors.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const refusals = [
  [
    'AddressInUse',
    'Service "tenant" is invalid: spec.ports[0].nodePort: Invalid value: 30500: provided port is already allocated',
  ],
  ['NoFreeNodePort', 'Internal error occurred: failed to allocate a nodePort: range is full'],
] as const;

describe('A Service that the API server has no port for', () => {
  test.each(refusals)('is reported as %s, with the words of the API server and what to do', async (reason, message) => {
    const world = new TenantWorld();
    await world.create();
    const free = world.cluster.before(({ kind, verb }) => {
      if (kind?.kind === 'Service' && verb === 'apply') throw new ApiError(422, 'Invalid', message);
    });
    await world.reconcile();
    expect(await world.condition('EndpointReady')).toContain(`False ${reason}: `);
    expect(await world.condition('EndpointReady')).toContain(message);
    expect(await world.condition('EndpointReady')).toMatch(/; (set|delete) .+/);
    // What needs the endpoint names the condition to look at.
    expect(await world.condition('KubeconfigsReady')).toContain('Unknown Blocked: waiting for EndpointReady: ');
    free();
    await world.settle();
    expect(await world.condition('EndpointReady')).toContain('True');
  });
});
