import type { DeclaredAccess, DeclaredRole } from '../api/generate/role.ts';
import { access as dataStore } from '../controllers/datastore/access.ts';
import { access as kubeconfigGenerator } from '../controllers/kubeconfiggenerator/access.ts';
import { access as stewardControlPlane } from '../controllers/stewardcontrolplane/access.ts';
import { access as tenantControlPlane, operatorNamespaceAccess } from '../controllers/tenantcontrolplane/access.ts';
import { migrateAccess, migrateNamespaceAccess } from './migrate-access.ts';

/** The parts of the manager with the rights that each declares beside its code. */
const managerAccess: readonly DeclaredAccess[] = [
  { name: 'datastore', access: dataStore },
  { name: 'kubeconfiggenerator', access: kubeconfigGenerator },
  { name: 'stewardcontrolplane', access: stewardControlPlane },
  { name: 'tenantcontrolplane', access: tenantControlPlane },
  {
    name: 'manager',
    access: [
      // Events stand in the namespace of the object that they are about.
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      // The manager makes its webhooks' authority itself and writes it where the API server looks for it.
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
        resourceNames: ['steward-mutating-webhook-configuration', 'steward-validating-webhook-configuration'],
        verbs: ['get', 'list', 'watch', 'patch'],
      },
    ],
  },
];

const operatorNamespace = 'steward-system';

/** Every role that the programs hold: source of config/rbac/role.yaml. */
export const declaredRoles: readonly DeclaredRole[] = [
  { name: 'steward-manager-role', parts: managerAccess },
  {
    name: 'steward-manager-role',
    namespace: operatorNamespace,
    parts: [{ name: 'tenantcontrolplane', access: operatorNamespaceAccess }],
  },
  { name: 'steward-migrate-role', parts: [{ name: 'migrate', access: migrateAccess }] },
  {
    name: 'steward-migrate-role',
    namespace: operatorNamespace,
    parts: [{ name: 'migrate', access: migrateNamespaceAccess }],
  },
];
