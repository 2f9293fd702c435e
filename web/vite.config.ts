// vite.config.ts: builds the page into dist: hashed files, nothing inline, so that a strict Content-Security-Policy holds.
import { defineConfig } from 'vite';

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir: 'dist',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:7600', '/metrics': 'http://127.0.0.1:7600' } },
});
