import { readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string
}
const serverPort = Number(process.env.BATON_PORT ?? 4400)
const server = `http://127.0.0.1:${serverPort}`

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), placeholders(), precompressed()],
  define: { __BATON_VERSION__: JSON.stringify(version) },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    manifest: true,
    // light-dark() and nesting as they are: browsers since the middle of 2024.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Written into the page as an inline script otherwise, which the policy forbids.
    modulePreload: { polyfill: false },
    // Fonts and pictures stay files that are fetched once and kept.
    assetsInlineLimit: 0,
    // React changes seldom: a new version of the app leaves it in the browser's cache.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// }] },
      },
    },
    // Sizes are told by a test.
    reportCompressedSize: false,
  },
  server: {
    host: '127.0.0.1',
    port: serverPort + 1,
    strictPort: true,
    // The server refuses requests that another origin makes, and this one has another port.
    proxy: { '/api': { target: server, ws: true, changeOrigin: true, headers: { origin: server } } },
  },
})

/** The server fills these in with each answer; in development there is no policy and the theme follows the system. */
function placeholders(): Plugin {
  return {
    name: 'baton-placeholders',
    apply: 'serve',
    transformIndexHtml: (html) => html.replaceAll('__NONCE__', '').replaceAll('__THEME__', 'system'),
  }
}

const COMPRESSIBLE = /\.(js|css|svg|json)$/

/** Writes .br and .gz beside each text: compressed once and well, not with each answer. */
function precompressed(): Plugin {
  return {
    name: 'baton-precompressed',
    apply: 'build',
    // Not when the bundle is closed: that also happens when it failed, and its own error must be the one that is read.
    async writeBundle({ dir }) {
      const names = (await readdir(dir!, { recursive: true })).filter((name) => COMPRESSIBLE.test(name))
      await Promise.all(names.map((name) => compress(join(dir!, name))))
    },
  }
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path)
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }
  await Promise.all([
    promisify(brotliCompress)(bytes, best).then((packed) => writeFile(`${path}.br`, packed)),
    promisify(gzip)(bytes, { level: 9 }).then((packed) => writeFile(`${path}.gz`, packed)),
  ])
}
