import type { Reach } from '../../controllers/tenantcontrolplane/endpoint/reach/reach.ts';
import { InvalidInputError } from '../../kubeadm/invalid-input-error.ts';
import { parseCidr } from '../../kubeadm/networks.ts';
import { UsageError } from './flags.ts';

const annotationEntry = /^(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?)$/;

/**
 * What control planes may show outside their namespaces, from the flags.
 * @throws UsageError that names the flag and what it was given.
 */
export function reachSettings(externalIps: string, annotations: string): Reach {
  return {
    externalIps: listed(externalIps).map(network),
    annotations: listed(annotations).map((entry) => {
      if (annotationEntry.test(entry)) return entry;
      const forms = 'domains such as example.com/, whole keys such as example.com/key, or *, separated by commas';
      throw new UsageError(`--allow-annotations takes ${forms}, got "${entry}"`);
    }),
  };
}

function network(text: string): Reach['externalIps'][number] {
  try {
    return parseCidr(text, '--allow-external-ips');
  } catch (error) {
    if (error instanceof InvalidInputError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function listed(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
