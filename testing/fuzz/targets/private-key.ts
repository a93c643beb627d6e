import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { parsePrivateKey } from '../../../kubeadm/pki/private-key.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';
import { serverCa } from '../../servers/server-certificates.ts';

/** The key of a CA that an author supplies. */
export const privateKey: FuzzTarget = {
  name: 'private-key',
  from: 'the author of a TenantControlPlane',
  seeds: async () => [(await serverCa('fuzz')).key],
  refusals: [InvalidInputError],
  parse: (input) => {
    const { asymmetricKeyType: type } = parsePrivateKey(input.toString(), 'tls.key');
    kept(type === 'rsa' || type === 'ec', 'only the kinds of keys that Kubernetes reads');
  },
};
