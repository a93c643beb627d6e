import { issue, issueCa } from '../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';

const validityMs = 10 * 24 * 60 * 60 * 1000;

const options = () => ({ algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(new Date(), validityMs) }) as const;

/** A certificate authority for tests, valid for ten days. */
export const serverCa = async (commonName: string): Promise<KeyPair> => issueCa({ commonName, usages: [] }, options());

/** A server's certificate for the loopback addresses; also good as its client certificate towards its peers. */
export const loopbackPair = async (
  ca: KeyPair,
  commonName: string,
  dnsNames: readonly string[] = [],
): Promise<KeyPair> =>
  issue(
    {
      commonName,
      usages: ['serverAuth', 'clientAuth'],
      dnsNames: ['localhost', ...dnsNames],
      ipAddresses: ['127.0.0.1'],
    },
    ca,
    options(),
  );

/** A client's certificate: the common name is the user, the organizations are its groups. */
export const clientPair = async (
  ca: KeyPair,
  commonName: string,
  organizations: readonly string[] = [],
): Promise<KeyPair> => issue({ commonName, organizations, usages: ['clientAuth'] }, ca, options());
