import { expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { PublicationFacts, Scope } from '../../scope.ts';
import { published } from './exposure-phase.ts';

const scopeWith = (publication: PublicationFacts): Scope => ({
  tcp: tenantControlPlaneWith(),
  observed: {} as Scope['observed'],
  publication,
});

test('routes that could not be made are told of with the reason, and are not done', async () => {
  const failure = new Error('the Ingress was refused');
  const takeover = { is: false, until: 'its route is created' } as const;
  const scope = scopeWith({ failure, made: undefined, status: {}, takeover, hasFormer: false });
  await expect(published(scope)).rejects.toBe(failure);
});
