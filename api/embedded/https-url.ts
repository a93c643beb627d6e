import { str } from '../schema.ts';

/**
 * An HTTPS URL as kube-apiserver accepts one for an issuer: without user, query, fragment and anything that needs an escape, so that
 * every program reads the same host and path in it.
 */
export const httpsUrl = str({
  pattern:
    "^https://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\])(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~:@!$&'()*+,;=/-]*)?$",
  maxLength: 2048,
});
