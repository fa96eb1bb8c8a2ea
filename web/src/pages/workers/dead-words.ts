import { causeOf } from '../../../../src/pure/cause.ts'
import type { DeadLetter } from './use-workers.ts'

/** Why a task is tried no more, in words. Pure. */

const CAUSES: Record<string, string> = {
  infrastructure: 'the machine or a service failed',
  quality: 'the result was not good enough',
  rate_limited: 'the model’s limit was reached',
  timeout: 'it took too long',
  out_of_memory: 'it ran out of memory',
}

const spent = (attempts: number) =>
  attempts <= 1 ? 'Its only attempt is spent' : `All ${attempts} attempts are spent`

/** "It exited with code 3. All 4 attempts are spent." */
export function deadWords({ error, failureClass, exitCode, attempt, maxRetries }: DeadLetter): string {
  const cause =
    causeOf(error?.trim() ?? '') ||
    (exitCode !== null && exitCode !== 0
      ? `It exited with code ${exitCode}`
      : failureClass === null
        ? ''
        : (CAUSES[failureClass] ?? failureClass.replaceAll('_', ' ')))
  const first = cause === '' ? '' : `${cause.charAt(0).toUpperCase()}${cause.slice(1).replace(/\.+$/, '')}. `
  return `${first}${attempt > maxRetries ? spent(maxRetries + 1) : 'It is tried no more'}.`
}
