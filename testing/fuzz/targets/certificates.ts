import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { caCertHashes } from '../../../kubeadm/pki/certificate-chain.ts';
import { trustBundle } from '../../../kubeadm/pki/trust-bundle.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { serverCa } from '../../servers/server-certificates.ts';

/** The certificates of a CA that an author supplies. */
export const certificates: FuzzTarget = {
  name: 'certificates',
  from: 'the author of a TenantControlPlane',
  seeds: async () => [(await serverCa('fuzz')).certificate],
  refusals: [InvalidInputError],
  parse: (input) => {
    const pem = input.toString();
    caCertHashes(pem);
    trustBundle([pem]);
  },
};
