import { toDo } from './remedy.ts';

/** The remedies when a datastore cannot be used. */
export const storeRemedies = {
  Unauthorized: toDo(
    'Put credentials that the datastore accepts into the Secrets that spec.basicAuth and spec.tlsConfig of the DataStore name. They are read again at once.',
    'kubectl get datastore <datastore> -o yaml',
  ),
  Unsupported: toDo(
    'Upgrade the datastore at least to the version in the message, or migrate its tenants to another DataStore.',
    'kubectl get datastore <datastore> -o yaml',
  ),
  CredentialsMissing: toDo(
    'Create the Secret, or the key in it, that the message names. It is read again at once.',
    'kubectl get datastore <datastore> -o yaml',
  ),
  CredentialsInvalid: toDo(
    'Replace the content of the Secret that the message names: certificates and keys must be PEM, and each key must match its certificate.',
    'kubectl get datastore <datastore> -o yaml',
  ),
  OwnedByAnother: toDo(
    'Choose another DataStore. Only if the data is that of the control plane, let it adopt the schema: set the annotation steward.butlerlabs.dev/adopt-schema on the DataStore.',
    "kubectl annotate datastore <datastore> 'steward.butlerlabs.dev/adopt-schema=<namespace>/<name>=SCHEMA'",
  ),
  InvalidName: toDo('Correct spec.dataStoreSchema or spec.dataStoreUsername as the message says, or leave them unset.'),
  SingleTenant: toDo(
    'Do what the message says, or give the control plane a DataStore of its own.',
    'kubectl get datastores',
  ),
} as const;
