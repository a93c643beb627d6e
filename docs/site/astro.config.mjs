import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';

// main.ts writes it before it starts the generator.
const staged = process.env.STEWARD_DOCS;
if (staged === undefined) throw new Error('STEWARD_DOCS is not set: build the site with `npm run docs`');
const { base, menu, out, repository } = JSON.parse(readFileSync(join(staged, 'site.json'), 'utf8'));

export default defineConfig({
  base,
  outDir: out,
  publicDir: '../images',
  cacheDir: join(staged, 'cache'),
  trailingSlash: 'always',
  devToolbar: { enabled: false },
  // Dashes and quotes stay as they are written: many are parts of commands.
  markdown: { smartypants: false },
  integrations: [
    starlight({
      title: 'Steward',
      sidebar: menu,
      favicon: '/icon.svg',
      logo: { src: '../images/icon.svg', alt: '' },
      social: [{ icon: 'github', label: 'The repository', href: repository }],
      customCss: ['./src/styles/steward.css'],
      components: { ThemeSelect: './src/components/Choices.astro' },
      credits: false,
      expressiveCode: { themes: ['github-dark', 'github-light'], minSyntaxHighlightingColorContrast: 5.5 },
    }),
  ],
});
