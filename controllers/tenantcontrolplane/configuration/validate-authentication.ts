import type { Authentication } from '../../../api/embedded/authentication.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { serviceAccountIssuers } from './service-account-issuers.ts';
import { repeated } from './repeated.ts';
import type { Placed } from './repeated.ts';
import { validateAuthority } from './validate-authority.ts';
import { validateExpression } from './validate-expression.ts';

type Jwt = Authentication['jwt'][number];
type Mappings = Jwt['claimMappings'];

const at = 'spec.kubernetes.authentication.jwt';
const error = (field: string, value: string | undefined, reason: string, remedy: string): InvalidInput => ({
  field,
  value,
  reason,
  remedy,
});

/** A value with its place, if it is there. */
const placed = (field: string, value: string | undefined): readonly Placed[] =>
  value === undefined || value === '' ? [] : [{ at: field, value }];

function validateIssuer({ issuer }: Jwt, field: string, accounts: readonly string[]): readonly InvalidInput[] {
  const { url, discoveryURL, certificateAuthority, audiences } = issuer;
  const withoutSlash = (text: string): string => text.replace(/\/+$/, '');
  return [
    ...(accounts.includes(url)
      ? [
          error(
            `${field}.url`,
            url,
            'issues the service-account tokens of this tenant, which are accepted anyway',
            'name another issuer',
          ),
        ]
      : []),
    ...(discoveryURL !== undefined && withoutSlash(discoveryURL) === withoutSlash(url)
      ? [error(`${field}.discoveryURL`, discoveryURL, 'is the URL of the issuer', 'remove it')]
      : []),
    ...validateAuthority(`${field}.certificateAuthority`, certificateAuthority),
    ...repeated(audiences.map((value, index) => ({ at: `${field}.audiences[${index}]`, value }))),
  ];
}

function validateClaimRules({ claimValidationRules = [] }: Jwt, field: string): readonly InvalidInput[] {
  const each = claimValidationRules.flatMap((rule, index) => {
    const here = `${field}[${index}]`;
    const { claim, requiredValue = '', expression, message } = rule;
    if (claim === undefined && expression === undefined)
      return [error(here, undefined, 'checks nothing', 'set claim or expression')];
    if (claim !== undefined && expression !== undefined)
      return [error(here, undefined, 'has both claim and expression', 'remove one of them')];
    if (claim !== undefined && message !== undefined)
      return [error(`${here}.message`, message, 'is allowed only with expression', 'remove it')];
    if (expression !== undefined && requiredValue !== '')
      return [error(`${here}.requiredValue`, requiredValue, 'is allowed only with claim', 'remove it')];
    return [];
  });
  const of = (key: 'claim' | 'expression'): readonly InvalidInput[] =>
    repeated(claimValidationRules.flatMap((rule, index) => placed(`${field}[${index}].${key}`, rule[key])));
  return [...each, ...of('claim'), ...of('expression')];
}

function validatePrefixed(mapping: Mappings['username'], field: string): readonly InvalidInput[] {
  const { claim, prefix, expression } = mapping;
  if (claim === undefined && expression === undefined)
    return [error(field, undefined, 'names no source', 'set claim with prefix, or expression')];
  if (claim !== undefined && expression !== undefined)
    return [error(field, undefined, 'has both claim and expression', 'remove one of them')];
  if (claim !== undefined && prefix === undefined) {
    const remedy = 'set it, e.g. to "oidc:", or to an empty string for no prefix';
    return [error(`${field}.prefix`, undefined, 'is required with claim', remedy)];
  }
  if (expression !== undefined && prefix !== undefined)
    return [error(`${field}.prefix`, prefix, 'is allowed only with claim', 'put the prefix into the expression')];
  return [];
}

const domainPrefixed =
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[a-z0-9/\-._~%!$&'()*+,;=:]+$/;

function validateExtra({ extra = [] }: Mappings, field: string): readonly InvalidInput[] {
  const each = extra.flatMap(({ key }, index) => {
    const here = `${field}[${index}].key`;
    if (!domainPrefixed.test(key) || (key.split('/')[0] ?? '').length > 253)
      return [error(here, key, 'is not a key in lower case with a domain', 'use a key such as example.org/department')];
    if (/^([^/]*\.)?(kubernetes|k8s)\.io\//.test(key))
      return [error(here, key, 'has a domain that is reserved for Kubernetes', 'use a domain of your own')];
    return [];
  });
  return [...each, ...repeated(extra.map(({ key }, index) => ({ at: `${field}[${index}].key`, value: key })))];
}

/** True when an expression reads a claim as a field: `claims.email`, or `claims.?email`. */
const reads = (expression: string | undefined, claim: string): boolean =>
  new RegExp(`\\bclaims\\s*\\.\\s*\\??\\s*${claim}\\b`).test(expression ?? '');

/** kube-apiserver does not start when an e-mail address that was not verified becomes a user name. */
function validateEmail({ claimMappings, claimValidationRules = [] }: Jwt, field: string): readonly InvalidInput[] {
  const { expression } = claimMappings.username;
  const checks = [
    expression,
    ...(claimMappings.extra ?? []).map(({ valueExpression }) => valueExpression),
    ...claimValidationRules.map((rule) => rule.expression),
  ];
  if (!reads(expression, 'email') || checks.some((one) => reads(one, 'email_verified'))) return [];
  const reason = 'uses claims.email, which the issuer may not have verified';
  const remedy = 'add the claim validation rule `claims.?email_verified.orValue(true) == true`';
  return [error(`${field}.username.expression`, expression, reason, remedy)];
}

function validateMappings(jwt: Jwt, field: string): readonly InvalidInput[] {
  const { username, groups, uid, extra } = jwt.claimMappings;
  return [
    ...validatePrefixed(username, `${field}.username`),
    ...(groups === undefined ? [] : validatePrefixed(groups, `${field}.groups`)),
    ...(uid?.claim !== undefined && uid.expression !== undefined
      ? [error(`${field}.uid`, undefined, 'has both claim and expression', 'remove one of them')]
      : []),
    ...(extra === undefined ? [] : validateExtra(jwt.claimMappings, `${field}.extra`)),
    ...validateEmail(jwt, field),
  ];
}

function validateExpressions(jwt: Jwt, field: string): readonly InvalidInput[] {
  const { username, groups, uid, extra = [] } = jwt.claimMappings;
  const mappings = `${field}.claimMappings`;
  return [
    ...(jwt.claimValidationRules ?? []).flatMap(({ expression }, index) =>
      validateExpression(`${field}.claimValidationRules[${index}].expression`, expression, 'claims'),
    ),
    ...validateExpression(`${mappings}.username.expression`, username.expression, 'claims'),
    ...validateExpression(`${mappings}.groups.expression`, groups?.expression, 'claims'),
    ...validateExpression(`${mappings}.uid.expression`, uid?.expression, 'claims'),
    ...extra.flatMap(({ valueExpression }, index) =>
      validateExpression(`${mappings}.extra[${index}].valueExpression`, valueExpression, 'claims'),
    ),
    ...(jwt.userValidationRules ?? []).flatMap(({ expression }, index) =>
      validateExpression(`${field}.userValidationRules[${index}].expression`, expression, 'user'),
    ),
  ];
}

/**
 * What kube-apiserver would refuse in an AuthenticationConfiguration. Only it knows the types and functions of expressions: one that
 * is wrong in these ends new pods, and the previous ones keep serving.
 */
export function validateAuthentication({ spec }: Pick<TenantControlPlane, 'spec'>): readonly InvalidInput[] {
  const { authentication } = spec.kubernetes;
  if (authentication === undefined) return [];
  const accounts = serviceAccountIssuers(spec);
  const { jwt: all } = authentication;
  return [
    ...all.flatMap((jwt, index) => {
      const here = `${at}[${index}]`;
      const users = (jwt.userValidationRules ?? []).map(({ expression }, place) => ({
        at: `${here}.userValidationRules[${place}].expression`,
        value: expression,
      }));
      return [
        ...validateIssuer(jwt, `${here}.issuer`, accounts),
        ...validateClaimRules(jwt, `${here}.claimValidationRules`),
        ...validateMappings(jwt, `${here}.claimMappings`),
        ...repeated(users),
        ...validateExpressions(jwt, here),
      ];
    }),
    ...repeated(all.map(({ issuer }, index) => ({ at: `${at}[${index}].issuer.url`, value: issuer.url }))),
    ...repeated(all.flatMap(({ issuer }, index) => placed(`${at}[${index}].issuer.discoveryURL`, issuer.discoveryURL))),
  ];
}
