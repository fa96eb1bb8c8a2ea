import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureAllBuilt } from './build.mjs'
import { runTool } from './run-tool.mjs'

/** Style, types and dead code, side by side. Returns the exit code of the first check that fails, or 0. */
export async function runChecks() {
  const typesOf = (project) => runTool('tsc', ['-p', project, '--noEmit'], 'typescript')
  const others = [
    runTool('biome', ['check', '.'], '@biomejs/biome'),
    runTool('knip', []),
    typesOf('web/tsconfig.json'),
  ]
  // To compile everything checks the types of everything: twice would take ten seconds more.
  // The app as well: the tests would build it while all of them wait.
  const isChecked = await ensureAllBuilt('tsconfig.json')
  const types = isChecked ? 0 : await typesOf('tsconfig.json')
  return [...(await Promise.all(others)), types].find((code) => code !== 0) ?? 0
}

/** Returns vitest's exit code, after a line with the numbers that other programs can read. */
export async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-'))
  const report = join(folder, 'report.json')
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const code = await runTool('vitest', ['run', ...reporters, ...args])
    console.log(summary(report))
    return code
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function summary(report) {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    // A file that cannot even be loaded has no tests to count.
    const broken = testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    )
    return `${numPassedTests} passed, ${numFailedTests + broken.length} failed`
  } catch {
    return 'The tests did not run to their end.'
  }
}
