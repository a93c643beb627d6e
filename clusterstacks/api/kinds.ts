import type { Kind } from '../../api/schema.ts';
import { clusterAddon } from './cluster-addon.ts';
import { clusterStackRelease } from './cluster-stack-release.ts';
import { clusterStack } from './cluster-stack.ts';

/** Kinds of the optional cluster stack layer. */
export const clusterStackKinds: readonly Kind[] = [clusterStack, clusterStackRelease, clusterAddon];
