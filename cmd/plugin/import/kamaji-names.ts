import { stewardGroup } from '../../../api/names.ts';

/** The domain in labels, annotations and finalizers of Kamaji. Those of Steward differ in nothing else. */
export const kamajiDomain = 'kamaji.clastix.io';

/** Labels and annotations of Kamaji that an import reads or writes. */
export const kamajiNames = {
  /** Label: name of the TenantControlPlane. Also selects its pods. */
  name: `${kamajiDomain}/name`,
  /** Label: `kamaji` on every object that Kamaji creates. */
  project: `${kamajiDomain}/project`,
  /** Annotation: with any value, Kamaji leaves the object alone, also when it is deleted. */
  paused: `${kamajiDomain}/paused`,
} as const;

/** A key of Kamaji with the domain of Steward; other keys stay. `component.kamaji.clastix.io/ca` has the domain in its middle. */
export function asSteward(key: string): string {
  return rename(key, kamajiDomain, stewardGroup);
}

/** A key of Steward with the domain of Kamaji; other keys stay. */
export function asKamaji(key: string): string {
  return rename(key, stewardGroup, kamajiDomain);
}

function rename(key: string, from: string, to: string): string {
  const [prefix = '', ...rest] = key.split('/');
  // A finalizer may be the domain alone.
  if (prefix !== from && !prefix.endsWith(`.${from}`)) return key;
  return [`${prefix.slice(0, prefix.length - from.length)}${to}`, ...rest].join('/');
}
