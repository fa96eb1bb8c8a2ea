import type { IconName } from '../../theme/icons.ts'
import type { Cli } from './onboarding.ts'

interface Verdict {
  icon: IconName
  look: string
  words: string
}

/** Whether a program of this machine can be used, in words. */
export function verdictOn({
  isFound,
  isAllowed,
  login,
}: Pick<Cli, 'isFound' | 'isAllowed' | 'login'>): Verdict {
  if (!isFound) return { icon: 'minus', look: 'text-faint', words: 'not found' }
  if (!isAllowed) return { icon: 'lock', look: 'text-muted', words: 'not allowed in this workspace' }
  if (login === 'out') return { icon: 'warning', look: 'text-ask', words: 'not logged in' }
  return {
    icon: 'check',
    look: 'text-done',
    words: login === 'in' ? 'logged in' : 'installed, login not known',
  }
}
