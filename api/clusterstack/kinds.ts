import type { Kind } from '../schema.ts';
import { clusterAddon } from './cluster-addon.ts';
import { clusterStackRelease } from './cluster-stack-release.ts';
import { clusterStack } from './cluster-stack.ts';

/** The kinds of the optional layer of cluster stacks. */
export const clusterStackKinds: readonly Kind[] = [clusterStack, clusterStackRelease, clusterAddon];
