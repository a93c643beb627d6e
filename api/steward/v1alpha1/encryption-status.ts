import type { Infer } from '../../schema.ts';
import { bool, described, int64, list, obj, oneOf, opt, str, time } from '../../schema.ts';

const step = oneOf('Adding', 'Switching', 'Rewriting', 'Retiring', 'Done');
/** Step towards the encryption in the spec. */
export type EncryptionStep = Infer<typeof step>;

const encryptedResource = obj({
  resource: described(str(), 'The encrypted resource, as in the spec.'),
  writes: described(str(), 'What new data is encrypted with, as `provider/key`; `identity` for data in plain text.'),
  reads: opt(described(list(str()), 'What else stored data may be encrypted with.')),
});

const rewriting = obj({
  resource: described(str(), 'The resource whose objects are being rewritten.'),
  continue: opt(described(str(), 'Where the next page of objects begins.')),
  objects: described(int64(), 'How many objects have been rewritten so far, of all resources.'),
});

/** The encryption of a tenant's data, without keys. */
export const encryptionStatus = obj({
  revision: described(int64(), 'Number of the configuration. It grows with each change.'),
  step: described(
    step,
    'Current step. Adding: all API servers are configured to read with the new key. Switching: they begin to write with it. Rewriting: existing objects are rewritten. Retiring: the old key is removed. Done: everything is as in the spec.',
  ),
  resources: described(list(encryptedResource), 'What each resource is encrypted with.'),
  kmsContainers: opt(described(list(str()), 'Containers whose plugins stored data depends on.')),
  distributed: described(bool(), 'True once all API servers have the configuration.'),
  rewritten: opt(described(bool(), 'True once all objects have been rewritten with the configuration.')),
  rewriting: opt(described(rewriting, 'Progress of the rewriting of existing objects.')),
  lastRewriteTime: opt(described(time(), 'Time at which all objects had been rewritten.')),
  message: opt(described(str(), 'What the current step is waiting for.')),
});
export type EncryptionStatus = Infer<typeof encryptionStatus>;
