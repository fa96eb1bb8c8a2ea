import { copyText } from '../parts/copyable.tsx'
import { toast } from '../parts/toasts.tsx'
import { countText } from '../parts/wording.ts'
import type { Line } from './lines.ts'
import { downloadLog } from './log-reads.ts'
import { plainText } from './settle.ts'

/** Copies the lines in memory. */
export async function copyLines(lines: readonly Line[], hasColours: boolean): Promise<void> {
  const text = lines.map(({ raw }) => (hasColours ? raw : plainText(raw))).join('\n')
  if (await copyText(text))
    toast({ kind: 'done', title: `Copied ${countText(lines.length)} lines around the place that is shown.` })
}

/** Hands the whole log to the browser as a file. */
export async function saveLog(runId: string): Promise<void> {
  const id = toast({ title: 'Reading the whole log', lastsMs: null })
  try {
    await downloadLog(runId, (share) =>
      toast({ id, title: `Reading the whole log: ${Math.floor(share * 100)} %`, lastsMs: null }),
    )
    toast({ id, kind: 'done', title: 'The browser has the log.' })
  } catch {
    toast({
      id,
      kind: 'bad',
      title: 'The log could not be read.',
      text: 'Try again when the server answers.',
    })
  }
}
