import type { Infer } from '../../api/schema.ts';
import { bool, described, obj, oneOf, opt, str } from '../../api/schema.ts';

const secretName = obj({ name: described(str({ minLength: 1, maxLength: 253 }), 'Name of the Secret.') });

/** Source of the releases of a stack. */
export const clusterStackSource = obj(
  {
    type: described(
      oneOf('oci', 'github', 'directory'),
      '`oci`: a registry. `github`: the releases of a GitHub repository. `directory`: a directory that the manager can read.',
    ),
    repository: opt(
      described(
        str({ minLength: 1, maxLength: 512 }),
        'For type oci: `host[:port]/path`. For type github: `owner/name`. For type directory: a directory below that of the manager flag `--cluster-stacks-folder`.',
      ),
    ),
    credentialsSecretRef: opt(
      described(
        secretName,
        'Secret in the same namespace with the keys `username` and `password`, or with the key `token`. If unset, the source is read anonymously.',
      ),
    ),
    caSecretRef: opt(
      described(secretName, 'Secret in the same namespace with the key `ca.crt`: the CA of the registry.'),
    ),
    plainHTTP: opt(described(bool(), 'Whether to connect to the registry without TLS.'), false),
  },
  {
    rule: "self.type == 'directory' || has(self.repository)",
    message: 'repository is required for type oci (host/path) and github (owner/name): set it',
    fieldPath: '.repository',
  },
  {
    rule: "self.type == 'oci' || !(self.plainHTTP || has(self.caSecretRef))",
    message: 'plainHTTP and caSecretRef are supported only for type oci: remove them',
  },
  {
    rule: "self.type != 'directory' || !has(self.credentialsSecretRef)",
    message: 'credentialsSecretRef is not supported for type directory: remove it',
    fieldPath: '.credentialsSecretRef',
  },
);
export type ClusterStackSource = Infer<typeof clusterStackSource>;
