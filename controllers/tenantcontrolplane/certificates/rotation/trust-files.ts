import { dataKeys } from '../../../../api/names.ts';
import type { ControlPlaneInput } from '../../shared/control-plane-input.ts';

const pki = '/etc/kubernetes/pki';

/** The files of certificates that the pods trust. */
export function trustFiles({ trustBundles }: ControlPlaneInput): {
  readonly ca: string;
  readonly frontProxyCa: string;
} {
  const { ca, frontProxyCa } = dataKeys;
  return {
    ca: `${pki}/${trustBundles?.ca === true ? ca.bundle : ca.certificate}`,
    frontProxyCa: `${pki}/${trustBundles?.frontProxyCa === true ? frontProxyCa.bundle : frontProxyCa.certificate}`,
  };
}
