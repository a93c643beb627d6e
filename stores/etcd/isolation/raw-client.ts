import type { ChannelOptions } from '@grpc/grpc-js';
import { Etcd3 } from 'etcd3';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import type { Tenant } from '../../driver.ts';
import type { EtcdConfig } from '../config.ts';

/**
 * A client of the library itself: tenants are not bound to the calls that our own client knows. Answers of more than 4 MiB, which is the
 * library's own limit, are refused unless `grpcOptions` say otherwise.
 */
export function rawEtcdClient(config: EtcdConfig, pair: KeyPair, grpcOptions: ChannelOptions = {}): Etcd3 {
  return new Etcd3({
    hosts: config.endpoints.map((endpoint) => `https://${endpoint}`),
    credentials: {
      rootCertificate: Buffer.from(config.ca),
      certChain: Buffer.from(pair.certificate),
      privateKey: Buffer.from(pair.key),
    },
    grpcOptions,
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + 5000 }),
  });
}

/** The key pair that a tenant's pods get. */
export function pairOf(tenant: Tenant): KeyPair {
  return { certificate: tenant.tls?.certificate ?? '', key: tenant.tls?.key ?? '' };
}
