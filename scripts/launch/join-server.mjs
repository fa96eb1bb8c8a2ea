import { join } from 'node:path'
import { rolldown } from 'rolldown'

/**
 * Joins the compiled server in the given folder and the packages it uses into one file: to find, read and compile a thousand of
 * them takes most of a start.
 */
const [folder] = process.argv.slice(2)
// The driver of Postgres asks for pg-native only where it is installed.
const bundle = await rolldown({
  input: join(folder, 'src/main.js'),
  platform: 'node',
  external: ['pg-native'],
})
await bundle.write({ dir: join(folder, 'server'), format: 'esm', codeSplitting: false })
await bundle.close()
