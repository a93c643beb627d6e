import type { Manifest } from '../../../../api/meta.ts';
import { hashLabel } from './rollout-facts.ts';

type Selecting = Manifest & { readonly spec?: { readonly selector?: Readonly<Record<string, string>> } };

/** A Service that selects only the pods with a hash. */
export function narrowed(service: Manifest, hash: string): Manifest {
  const { spec, ...rest }: Selecting = service;
  const selecting: Selecting = { ...rest, spec: { ...spec, selector: { ...spec?.selector, [hashLabel]: hash } } };
  return selecting;
}
