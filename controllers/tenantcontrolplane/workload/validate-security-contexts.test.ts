import { expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { validateKineUser, validateSecurityContexts } from './validate-security-contexts.ts';

type Contexts = NonNullable<NonNullable<TenantControlPlaneChanges['deployment']>['containerSecurityContexts']>;

const at = 'spec.controlPlane.deployment.containerSecurityContexts';
const tenant = (containerSecurityContexts: Contexts) =>
  tenantControlPlaneWith({ deployment: { containerSecurityContexts } });

test.each<[string, Contexts, string]>([
  [
    'kube-apiserver without NET_BIND_SERVICE',
    { apiServer: { capabilities: { drop: ['ALL'] } } },
    'apiServer.capabilities',
  ],
  ['a root user that must not be root', { scheduler: { runAsUser: 0 } }, 'scheduler.runAsUser'],
  [
    'a privileged container that must not gain privileges',
    { controllerManager: { privileged: true } },
    'controllerManager.allowPrivilegeEscalation',
  ],
  [
    'SYS_ADMIN without the gain of privileges',
    { kine: { capabilities: { add: ['SYS_ADMIN'] } } },
    'kine.allowPrivilegeEscalation',
  ],
])('%s is refused, and the error names the field', (_what, contexts, field) => {
  expect(validateSecurityContexts(tenant(contexts))).toMatchObject([{ field: `${at}.${field}` }]);
});

test.each<[string, Contexts]>([
  ['no context', {}],
  ['another user', { apiServer: { runAsUser: 1234 } }],
  ['root that may be root', { scheduler: { runAsUser: 0, runAsNonRoot: false } }],
  ['NET_BIND_SERVICE alone', { apiServer: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } } }],
  ['a privileged container that may gain privileges', { kine: { privileged: true, allowPrivilegeEscalation: true } }],
])('%s is accepted', (_what, contexts) => {
  expect(validateSecurityContexts(tenant(contexts))).toEqual([]);
});

test('kine and kube-apiserver need the same user, which the socket between them belongs to', () => {
  expect(validateKineUser(tenant({ kine: { runAsUser: 7 } }))).toMatchObject([
    { field: `${at}.kine.runAsUser`, value: '7' },
  ]);
  expect(validateKineUser(tenant({ apiServer: { runAsUser: 7 } }))).toHaveLength(1);
  expect(validateKineUser(tenant({ apiServer: { runAsUser: 7 }, kine: { runAsUser: 7 } }))).toEqual([]);
  expect(validateKineUser(tenant({}))).toEqual([]);
});
