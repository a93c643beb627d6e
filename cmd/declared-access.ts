import { capiExtensionConfig } from '../api/cluster-api/kinds.ts';
import { clusterStackOperatorLease } from '../clusterstacks/api/names.ts';
import type { DeclaredAccess, DeclaredRole } from '../api/generate/role.ts';
import { access as clusterAddon } from '../clusterstacks/controllers/clusteraddon/access.ts';
import { access as runtimeExtension } from '../clusterstacks/controllers/clusteraddon/runtime-extension/access.ts';
import { access as clusterStack } from '../clusterstacks/controllers/clusterstack/access.ts';
import { access as clusterStackRelease } from '../clusterstacks/controllers/clusterstackrelease/access.ts';
import {
  access as backupPolicy,
  operatorNamespaceAccess as backupPolicyProcesses,
} from '../controllers/backuppolicy/access.ts';
import { access as controlPlaneClaim } from '../controllers/controlplaneclaim/access.ts';
import { access as controlPlanePool } from '../controllers/controlplanepool/access.ts';
import { access as dataStore } from '../controllers/datastore/access.ts';
import { access as kubeconfigGenerator } from '../controllers/kubeconfiggenerator/access.ts';
import { access as retainedControlPlane } from '../controllers/retainedcontrolplane/access.ts';
import { access as stewardControlPlane } from '../controllers/stewardcontrolplane/access.ts';
import { addonGateAccess } from '../controllers/stewardcontrolplane/upgrade/addon-gate-access.ts';
import { hostingAccess } from '../controllers/stewardcontrolplane/hosting/hosting-access.ts';
import {
  access as tenantBackup,
  operatorNamespaceAccess as tenantBackupProcesses,
} from '../controllers/tenantbackup/access.ts';
import {
  access as tenantRestore,
  operatorNamespaceAccess as tenantRestoreProcesses,
} from '../controllers/tenantrestore/access.ts';
import { access as tenantControlPlane, operatorNamespaceAccess } from '../controllers/tenantcontrolplane/access.ts';
import { activatorAccess, activatorNamespaceAccess } from './activator/activator-access.ts';
import { migrateAccess, migrateNamespaceAccess } from './migrate-access.ts';
import { extensionConfigName } from '../clusterstacks/cmd/runtime-extension.ts';

/** The parts of the manager with the rights that each declares beside its code. */
const managerAccess: readonly DeclaredAccess[] = [
  { name: 'datastore', access: dataStore },
  { name: 'kubeconfiggenerator', access: kubeconfigGenerator },
  { name: 'retainedcontrolplane', access: retainedControlPlane },
  { name: 'stewardcontrolplane', access: stewardControlPlane },
  { name: 'tenantcontrolplane', access: tenantControlPlane },
  { name: 'controlplanepool', access: controlPlanePool },
  { name: 'controlplaneclaim', access: controlPlaneClaim },
  { name: 'backuppolicy', access: backupPolicy },
  { name: 'tenantbackup', access: tenantBackup },
  { name: 'tenantrestore', access: tenantRestore },
  {
    name: 'manager',
    access: [
      // Events stand in the namespace of the object that they are about.
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      // Whether a TenantControlPlane may be deleted depends on its owner, also if this manager does not reconcile the owner.
      { apiGroups: ['controlplane.cluster.x-k8s.io'], resources: ['stewardcontrolplanes'], verbs: ['get'] },
      // The API server decides who may read metrics.
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      // The manager creates the CA of its webhooks itself and writes it to the webhook configurations.
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
    parts: [
      { name: 'tenantcontrolplane', access: operatorNamespaceAccess },
      { name: 'backuppolicy', access: backupPolicyProcesses },
      { name: 'tenantbackup', access: tenantBackupProcesses },
      { name: 'tenantrestore', access: tenantRestoreProcesses },
    ],
  },
  { name: 'steward-migrate-role', parts: [{ name: 'migrate', access: migrateAccess }] },
  {
    name: 'steward-migrate-role',
    namespace: operatorNamespace,
    parts: [{ name: 'migrate', access: migrateNamespaceAccess }],
  },
];

/** The roles of the activator, which is optional: source of config/activator/role.yaml. */
export const activatorRoles: readonly DeclaredRole[] = [
  { name: 'steward-activator-role', parts: [{ name: 'activator', access: activatorAccess }] },
  {
    name: 'steward-activator-role',
    namespace: operatorNamespace,
    parts: [{ name: 'activator', access: activatorNamespaceAccess }],
  },
];

/** What the user of a kubeconfig needs in a cluster that hosts control planes of another one: source of config/hosting/role.yaml. */
export const hostingRole: DeclaredRole = {
  name: 'steward-hosting-role',
  parts: [{ name: 'stewardcontrolplane', access: hostingAccess }],
};

/** What the manager needs for the optional layer of cluster stacks: source of config/clusterstacks/role.yaml. */
export const clusterStacksRole: DeclaredRole = {
  name: 'steward-clusterstacks-role',
  parts: [
    { name: 'clusterstack', access: clusterStack },
    { name: 'clusterstackrelease', access: clusterStackRelease },
    { name: 'clusteraddon', access: clusterAddon },
    { name: 'stewardcontrolplane', access: addonGateAccess },
    {
      name: 'manager',
      access: [
        // Whether the cluster-stack-operator, which does the same work, leads in any namespace.
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          resourceNames: [clusterStackOperatorLease],
          verbs: ['get', 'list', 'watch'],
        },
        {
          apiGroups: ['admissionregistration.k8s.io'],
          resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
          resourceNames: [
            'steward-clusterstacks-mutating-webhook-configuration',
            'steward-clusterstacks-validating-webhook-configuration',
          ],
          verbs: ['get', 'list', 'watch', 'patch'],
        },
      ],
    },
  ],
};

/**
 * The permissions that the manager needs if core Cluster API calls its hooks: source of
 * config/clusterstacks/runtime-extension/role.yaml.
 */
export const runtimeExtensionRole: DeclaredRole = {
  name: 'steward-clusterstacks-runtime-extension-role',
  parts: [
    { name: 'clusteraddon', access: runtimeExtension },
    {
      name: 'manager',
      access: [
        {
          apiGroups: [capiExtensionConfig.group],
          resources: [capiExtensionConfig.plural],
          resourceNames: [extensionConfigName],
          verbs: ['get', 'list', 'watch', 'patch'],
        },
      ],
    },
  ],
};
