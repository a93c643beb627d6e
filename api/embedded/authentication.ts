import type { Infer } from '../schema.ts';
import { described, list, obj, opt, str } from '../schema.ts';
import { httpsUrl } from './https-url.ts';

const claim = described(str({ minLength: 1 }), 'Name of a claim in the token.');
const message = described(str({ minLength: 1 }), 'Message about a refused user in the log of kube-apiserver.');
const celOf = (variable: string): string =>
  `Expression in CEL over \`${variable}\`, which kube-apiserver compiles when it starts.`;
const claimsExpression = described(str({ minLength: 1, maxLength: 16_384 }), celOf('claims'));

const issuer = obj({
  url: described(httpsUrl, 'URL of the issuer, as in the claim `iss` of its tokens.'),
  discoveryURL: opt(
    described(httpsUrl, 'URL of the discovery document, if it is not below `url`. Includes `/.well-known/…`.'),
  ),
  certificateAuthority: opt(
    described(
      str({ minLength: 1, maxLength: 65_536 }),
      'CA certificates in PEM form for the issuer. Defaults to those of the image of kube-apiserver.',
    ),
  ),
  audiences: described(
    list(str({ minLength: 1 }), { minItems: 1, maxItems: 16 }),
    'A token must be for one of these: usually the client ID at the issuer.',
  ),
});

const claimValidationRule = obj({
  claim: opt(claim),
  requiredValue: opt(described(str(), 'Value that the claim must have.')),
  expression: opt(claimsExpression),
  message: opt(message),
});

const prefixed = (what: string) =>
  obj({
    claim: opt(claim),
    prefix: opt(
      described(str(), `Put in front of the ${what}. Required with \`claim\`; an empty string for no prefix.`),
    ),
    expression: opt(claimsExpression),
  });

const claimMappings = obj({
  username: described(prefixed('user name'), 'Where the user name comes from: `claim` or `expression`.'),
  groups: opt(described(prefixed('group names'), 'Where the groups come from: `claim` or `expression`.')),
  uid: opt(
    described(
      obj({ claim: opt(claim), expression: opt(claimsExpression) }),
      'Where the UID comes from: `claim` or `expression`.',
    ),
  ),
  extra: opt(
    described(
      list(
        obj({
          key: described(
            str({ minLength: 1, maxLength: 510 }),
            'Key in lower case with a domain, e.g. `example.org/department`.',
          ),
          valueExpression: claimsExpression,
        }),
        { maxItems: 32 },
      ),
      'Extra attributes of the user.',
    ),
  ),
});

const userValidationRule = obj({
  expression: described(str({ minLength: 1, maxLength: 16_384 }), celOf('user')),
  message: opt(message),
});

const jwt = obj({
  issuer: described(issuer, 'Who issues the tokens.'),
  claimValidationRules: opt(
    described(list(claimValidationRule, { maxItems: 32 }), 'What must hold for the claims of a token.'),
  ),
  claimMappings: described(claimMappings, 'How claims become attributes of a user.'),
  userValidationRules: opt(
    described(
      list(userValidationRule, { maxItems: 32 }),
      'What must hold for a user. Steward adds rules that refuse names and groups with the prefix `system:`.',
    ),
  ),
});

/** Who may log in besides the holders of certificates, bootstrap tokens and service-account tokens. */
export const authentication = obj({
  jwt: described(
    list(jwt, { minItems: 1, maxItems: 16 }),
    'Issuers of OpenID Connect tokens, as in the AuthenticationConfiguration of kube-apiserver.',
  ),
});
export type Authentication = Infer<typeof authentication>;
