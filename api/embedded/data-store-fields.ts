import { core } from '../core/core-schema.ts';
import { described, list, obj, opt, ruled, str } from '../schema.ts';
import { tenantQuota } from './quota.ts';
import { dataStoreTolerations } from '../steward/v1alpha1/data-store-placement.ts';

/** Which DataStores a control plane may get, in the `spec` of both kinds. */
export const placementFields = {
  dataStoreSelector: opt(
    described(
      core('LabelSelector'),
      'Label selector for the DataStores in which the tenant may be placed. Evaluated once, before the tenant has data.',
    ),
  ),
  dataStoreTolerations: opt(
    described(dataStoreTolerations, 'Tolerations for DataStore taints, evaluated at placement.'),
  ),
} as const;

/** DataStore of a single resource, as in kube-apiserver's `--etcd-servers-overrides`. */
const dataStoreOverride = obj({
  resource: opt(
    described(
      str(),
      'Resource as `group/resource`, e.g. `/events`. Must be built into kube-apiserver; custom resources are not supported.',
    ),
  ),
  dataStore: opt(
    described(str(), 'Name of a DataStore with driver etcd. Must differ from the one of all other resources.'),
  ),
});

/** What a control plane has in its DataStores, in the `spec` of both kinds. */
export const dataStoreFields = {
  dataStoreSchema: opt(
    described(str(), 'Prefix, schema or bucket in the datastore. Generated if empty. Cannot be changed.'),
  ),
  dataStoreUsername: opt(
    described(
      ruled(str(), { rule: 'self == oldSelf', message: 'changing the dataStoreUsername is not supported' }),
      'User in the datastore. Generated if empty. Cannot be changed.',
    ),
  ),
  quota: opt(
    described(
      tenantQuota,
      'Limits of what the tenant stores and writes. While it reaches one, its API server denies creations and changes, but no deletions. Needs Kubernetes 1.30. It binds users of the tenant, and not those who may change this object.',
    ),
  ),
  dataStoreOverrides: opt(
    described(
      list(dataStoreOverride),
      'Resources that are stored in another DataStore. All DataStores must have driver etcd. Once the control plane has run, only the DataStore of `/events` may change, and existing Events are lost. Objects of other resources would be left behind.',
    ),
  ),
} as const;
