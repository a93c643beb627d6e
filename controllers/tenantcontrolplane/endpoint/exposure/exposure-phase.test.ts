import { expect, test } from '@jest/globals';
import { silent } from '../../../../runtime/observe/logger.ts';
import { publishedTenant } from '../../../../testing/worlds/published-tenant.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Scope } from '../../scope.ts';
import { publication } from './exposure-phase.ts';

const ctx = { signal: new AbortController().signal, now: new Date(0), log: silent, event: () => undefined };

test('routes that could not be created are reported with the reason, and stop no other phase', async () => {
  const scope = {
    tcp: publishedTenant({ ingress: { hostname: 'a.example.com' } }),
    observed: {} as Scope['observed'],
    service: { spec: {} },
    target: { host: 'a.example.com', port: 6443, hostPort: 443 },
  } as unknown as Scope;
  const error = new Error('the Ingress was refused');
  const deps = {
    allTenants: () => {
      throw error;
    },
  } as unknown as Dependencies;
  const outcome = await publication(scope, deps, ctx);
  expect(outcome).toMatchObject({ is: 'done', findings: [{ condition: 'EndpointReady', error }] });
  expect(outcome.is === 'done' && outcome.learned?.publication?.takeover).toEqual({
    is: false,
    until: 'its route is created',
  });
});
