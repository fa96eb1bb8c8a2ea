import { expect, test } from 'vitest'
import { useProcesses } from '../support/recovery.ts'
import { chaos } from '../support/webhook-chaos.ts'

const MINUTES = { timeout: 1_200_000 }
const processes = useProcesses()

test(
  'a receiver at its worst gets each event with one id and in order through ten kills of the leader',
  MINUTES,
  async () => {
    const kills = Array.from({ length: 10 }, () => 'kill' as const)
    const endings = kills.flatMap((kill, n) => (n % 3 === 0 ? [kill, 'freeze' as const] : [kill]))
    expect(await chaos(processes, endings, 600)).toBeGreaterThan(1_800)
  },
)
