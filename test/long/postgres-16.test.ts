import { runOnPostgres } from './on-version.ts'

await runOnPostgres(16)
