import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { Ingress } from '../../../../api/core/kinds.ts';
import { ingressTakeover, traefikTakeover } from './route-switch.ts';

const made = new Date('2030-01-01T00:00:00Z');
const after = (ms: number): Date => new Date(made.getTime() + ms);
const metadata = storedMeta({ name: 'tenant', creationTimestamp: made.toISOString() });
const ingress: Ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata };
const route = { apiVersion: 'traefik.io/v1alpha1', kind: 'IngressRouteTCP', metadata };

describe('A new route', () => {
  test('without a status replaces the previous one after a minute', () => {
    expect(ingressTakeover(ingress, after(59_000))).toMatchObject({ is: false, afterMs: 1_000 });
    expect(ingressTakeover(ingress, after(60_000))).toEqual({ is: true });
    expect(traefikTakeover(route, after(59_000))).toMatchObject({ is: false, afterMs: 1_000 });
    expect(traefikTakeover(route, after(60_000))).toEqual({ is: true });
  });

  test('with an address replaces the previous one at once', () => {
    const served = { ...ingress, status: { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } } };
    expect(ingressTakeover(served, made)).toEqual({ is: true });
  });
});
