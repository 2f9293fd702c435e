// build.mjs: builds the page into dist: hashed files, nothing inline, so that a strict Content-Security-Policy holds. With --watch: again whenever a source changes.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build, context } from 'esbuild';

const watch = process.argv.includes('--watch');

/** index.html names sources: in dist it names what was made of them. What the first file imports is fetched beside it. */
function indexWrite({ outputs }) {
  const made = new Map(Object.entries(outputs).map(([path, output]) => [output.entryPoint, { path, output }]));
  const first = made.get('src/main.tsx').output.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => `    <link rel="modulepreload" href="${path.replace(/^dist/, '')}" />\n`).join('');
  const icon = Object.keys(outputs).find((path) => path.endsWith('.svg'));
  const html = readFileSync('index.html', 'utf8').replace(/"\/(src\/[^"]+)"/g, (_, source) => `"${(source.endsWith('.svg') ? icon : made.get(source).path).replace(/^dist/, '')}"`);
  writeFileSync('dist/index.html', html.replace('  </head>', `${first}  </head>`));
}

const settings = {
  entryPoints: ['src/main.tsx', 'src/style.css', 'src/icon.svg'], outdir: 'dist/assets', entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]', assetNames: '[name]-[hash]',
  bundle: true, splitting: true, format: 'esm', target: 'es2022', minify: true, metafile: true, legalComments: 'none', banner: { js: '//# allFunctionsCalledOnLoad' }, jsx: 'automatic', jsxImportSource: 'preact', loader: { '.svg': 'copy' }, logLevel: 'warning',
  plugins: [{ name: 'index', setup: (of) => of.onEnd(({ metafile }) => metafile && indexWrite(metafile)) }],
};

rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
if (watch) await (await context(settings)).watch();
else await build(settings);
