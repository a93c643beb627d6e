import { checksum } from '../../../kubeadm/pki/checksum.ts';

/** The label with the DataStore that pods use: a form of its name, which may be longer than a label's value. */
export function dataStoreLabel(store: string): string {
  return store.length <= 63 ? store : checksum({ store });
}
