import { join } from 'node:path';
import { docsSchema } from '@astrojs/starlight/schema';
import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';

export const collections = {
  docs: defineCollection({
    loader: glob({ base: join(process.env.STEWARD_DOCS, 'pages'), pattern: '**/*.md' }),
    schema: docsSchema(),
  }),
};
