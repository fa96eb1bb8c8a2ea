import { join } from 'node:path'
import { rolldown } from 'rolldown'

/**
 * Joins the compiled server in the given folder and the packages it uses into one file: to find, read and compile a thousand of
 * them takes most of a start.
 */
const [folder] = process.argv.slice(2)
const bundle = await rolldown({
  input: join(folder, 'src/main.js'),
  platform: 'node',
  // The driver of Postgres asks for pg-native only where it is installed. The client of S3 is loaded only where logs are kept there: every
  // start would read its megabyte.
  external: ['pg-native', /^@aws-sdk\//],
})
// One file: what is loaded lazily (kinds/all.ts) would otherwise import the file that waits for it.
await bundle.write({ dir: join(folder, 'server'), format: 'esm', codeSplitting: false })
await bundle.close()
