import type { Infer } from '../schema.ts';
import { bool, described, obj, oneOf, opt, str } from '../schema.ts';

const secretName = obj({ name: str({ minLength: 1, maxLength: 253 }) });

/** Where the releases of a stack are. */
export const clusterStackSource = obj(
  {
    type: described(
      oneOf('oci', 'github', 'directory'),
      'A registry, the releases of a GitHub repository, or a folder that the manager can read.',
    ),
    repository: opt(
      described(
        str({ minLength: 1, maxLength: 512 }),
        'Of type oci: `host[:port]/path`. Of type github: `owner/name`. Of type directory: a folder below the one that the manager was given.',
      ),
    ),
    credentialsSecretRef: opt(
      described(
        secretName,
        'Secret of the same namespace with keys `username` and `password`, or with key `token`. Without it the source is read anonymously.',
      ),
    ),
    caSecretRef: opt(
      described(secretName, 'Secret of the same namespace with key `ca.crt`: the authority of the registry.'),
    ),
    plainHTTP: opt(described(bool(), 'Whether the registry is spoken to without TLS.'), false),
  },
  {
    rule: "self.type == 'directory' || has(self.repository)",
    message: 'repository must be set for a source of type oci (host/path) or github (owner/name)',
    fieldPath: '.repository',
  },
  {
    rule: "self.type == 'oci' || !(self.plainHTTP || has(self.caSecretRef))",
    message: 'plainHTTP and caSecretRef are for a source of type oci only: leave them out',
  },
  {
    rule: "self.type != 'directory' || !has(self.credentialsSecretRef)",
    message: 'a source of type directory has no credentials: leave credentialsSecretRef out',
    fieldPath: '.credentialsSecretRef',
  },
);
export type ClusterStackSource = Infer<typeof clusterStackSource>;
