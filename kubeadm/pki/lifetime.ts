import type { Lifetime } from './key-pair.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** kubeadm's `certificateValidityPeriod`: 365 days, in milliseconds. */
export const certificateValidityMs = 365 * day;

/** kubeadm's `caCertificateValidityPeriod`: 3650 days, in milliseconds. */
export const caValidityMs = 3650 * day;

/**
 * Valid from five minutes before `now`, since clocks may be slow, until `validityMs` after `now`. In whole seconds, like X.509
 * times.
 */
export function lifetimeFrom(now: Date, validityMs: number): Lifetime {
  const second = Math.floor(now.getTime() / 1000) * 1000;
  return { notBefore: new Date(second - 5 * minute), notAfter: new Date(second + validityMs) };
}
