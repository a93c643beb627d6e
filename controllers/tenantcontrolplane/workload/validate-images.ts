import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** The grammar of image references: what container runtimes accept between slashes, before the first slash, and as a tag. */
const part = '[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*';
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${label}(?:\\.${label})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]{1,5})?`;
const path = new RegExp(`^${part}(?:/${part})*$`);
const hostAndPath = new RegExp(`^(?:${host})(?:/${part})*$`);
const imageName = new RegExp(`^(?:${host}/)?${part}(?:/${part})*$`);
const reference = new RegExp(
  `^(?:${host}/)?${part}(?:/${part})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[a-f0-9]{64})?$`,
);
const tag = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const tagEnd = /^[A-Za-z0-9_.-]{0,100}$/;

interface Form {
  readonly grammar: RegExp;
  readonly reason: string;
  readonly remedy: string;
}

const forms = {
  registry: {
    grammar: hostAndPath,
    reason: 'is not a registry, so no image could be pulled',
    remedy: 'use a host with an optional port and a lower-case path, e.g. registry.example:5000/mirror',
  },
  path: {
    grammar: path,
    reason: 'is not an image name',
    remedy: 'use lower-case letters, digits, dots, dashes and underscores between slashes, without a tag',
  },
  name: {
    grammar: imageName,
    reason: 'is not an image name',
    remedy: 'use a registry and a name without a tag, e.g. registry.example/proxy-server',
  },
  reference: {
    grammar: reference,
    reason: 'is not an image',
    remedy: 'use a registry, a name and a tag, e.g. registry.example/trustd:v1',
  },
  tag: {
    grammar: tag,
    reason: 'is not an image tag',
    remedy: 'use at most 128 letters, digits, dots, dashes and underscores',
  },
  tagEnd: {
    grammar: tagEnd,
    reason: 'cannot be the suffix of an image tag',
    remedy: 'use at most 100 letters, digits, dots, dashes and underscores',
  },
} as const satisfies Readonly<Record<string, Form>>;

/** A part of an image reference that the author set, with the field and the form that it must have. */
export type ImageField = readonly [field: string, value: string | undefined, form: keyof typeof forms];

/** What has images of its own. */
export interface HasImages {
  /** The parts of image references that the author set. */
  images?(tcp: TenantControlPlane): readonly ImageField[];
}

function given(tcp: TenantControlPlane): readonly ImageField[] {
  const { registry, ...names } = tcp.spec.controlPlane.deployment.registrySettings;
  const at = 'spec.controlPlane.deployment.registrySettings';
  return [
    [`${at}.registry`, registry.replace(/\/+$/, ''), 'registry'],
    [`${at}.apiServerImage`, names.apiServerImage, 'path'],
    [`${at}.controllerManagerImage`, names.controllerManagerImage, 'path'],
    [`${at}.schedulerImage`, names.schedulerImage, 'path'],
    [`${at}.tagSuffix`, names.tagSuffix, 'tagEnd'],
  ];
}

/** No registry accepts a longer name. */
const longest = 255;

/**
 * Validates the fields of image references that no container runtime would accept. An empty field is validated elsewhere, or has
 * a default.
 */
export function validateImages(tcp: TenantControlPlane, addons: readonly HasImages[]): readonly InvalidInput[] {
  const all = [...given(tcp), ...addons.flatMap((addon) => addon.images?.(tcp) ?? [])];
  return all.flatMap(([field, value = '', form]) => {
    const { grammar, reason, remedy } = forms[form];
    return value === '' || (value.length <= longest && grammar.test(value)) ? [] : [{ field, value, reason, remedy }];
  });
}
