import { readKubeconfig } from '../../api/kubeconfig.ts';
import type { KubeconfigOptions } from '../../api/kubeconfig.ts';
import type { Connection } from './connection.ts';

/** The connection that one context of a kubeconfig names. Throws `KubeconfigError`. */
export function parseKubeconfig(text: string, options?: KubeconfigOptions): Connection {
  return readKubeconfig(text, options).access;
}
