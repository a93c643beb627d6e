import type { Infer } from '../schema.ts';
import { described, int32, obj, oneOf, opt, setOf, str } from '../schema.ts';

const provider = oneOf('secretbox', 'aescbc', 'aesgcm', 'kms');

/** A name that is part of stored data, of keys in Secrets and of file names. */
const name = str({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 40 });

const keySecret = obj(
  {
    name: described(
      str({ minLength: 1, maxLength: 253 }),
      'Name of the Secret, in the namespace of the control plane.',
    ),
    key: described(
      name,
      'The key in `data` with the encryption key: 32 random bytes in base64, as `openssl rand -base64 32` prints them. It is also the name of the encryption key in stored data. To rotate the key, set another name; never change the value of a name that is in use.',
    ),
  },
  {
    rule: "!self.key.startsWith('generated-')",
    message: 'names that begin with generated- are reserved for keys that Steward generates: use another name',
    fieldPath: '.key',
  },
);

const kms = obj({
  name: described(
    name,
    'Name of the plugin in stored data. The plugin has to listen at `/run/kms/<name>.sock` of its container. Changing the name switches to another plugin and rewrites all objects.',
  ),
  container: described(
    str({ minLength: 1, maxLength: 63 }),
    'The additional container, or the additional init container with `restartPolicy: Always`, that runs the plugin. It gets a volume for the socket at `/run/kms`, which kube-apiserver also mounts.',
  ),
  timeoutSeconds: opt(
    described(int32({ minimum: 1, maximum: 60 }), 'How long kube-apiserver waits for the plugin. Defaults to 3.'),
  ),
});

/** Which resources of a tenant are stored encrypted, and with what. */
export const encryption = obj(
  {
    resources: opt(
      described(
        setOf(str({ pattern: '^[a-z][-a-z0-9]*(\\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$', maxLength: 253 }), {
          minItems: 1,
          maxItems: 64,
        }),
        'The encrypted resources, as `resource` or `resource.group`, e.g. `configmaps` or `widgets.example.com`.',
      ),
      ['secrets'],
    ),
    provider: opt(
      described(
        provider,
        'How data is encrypted: `secretbox` (XSalsa20 and Poly1305), `aescbc` or `aesgcm` (AES with a key of 256 bits), or `kms` (a plugin for KMS v2 as an additional container). With `aesgcm`, rotate before 200,000 writes.',
      ),
      'secretbox',
    ),
    keySecret: opt(described(keySecret, 'Your own encryption key. Without it, Steward generates one.')),
    keyGeneration: opt(
      described(
        int32({ minimum: 1 }),
        'The generation of the key that Steward generates. To rotate the key, raise this number: Steward generates a new key and encrypts all objects with it. With `kms`, it encrypts all objects again with the current key of the plugin. Defaults to 1.',
      ),
    ),
    kms: opt(described(kms, 'The plugin for KMS v2.')),
  },
  {
    rule: "(self.provider == 'kms') == has(self.kms)",
    message: 'set kms if, and only if, provider is kms',
    fieldPath: '.provider',
  },
  {
    rule: "!(has(self.keySecret) && self.provider == 'kms')",
    message: 'the key of a plugin is not in a Secret: leave out keySecret',
    fieldPath: '.keySecret',
  },
  {
    rule: '!(has(self.keySecret) && has(self.keyGeneration))',
    message: 'to rotate your own key, name another key in keySecret, and leave out keyGeneration',
    fieldPath: '.keyGeneration',
  },
);
export type Encryption = Infer<typeof encryption>;
